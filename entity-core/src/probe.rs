//! Finds out at compile time which capabilities a provider has.
//!
//! A method of [`Probe`] itself exists only if the provider has the capability; otherwise the method of the
//! same name of [`Fallback`] is called, which leaves the route as it is. The fallback asks nothing of the
//! provider, so that the compiler complains once, about what is no provider at all.

use crate::prepare::Prepare;
use crate::provider::{Actions, Create, Delete, List, Read, Update};
use crate::registry::{Route, RouteBuilder};

/// Stands for the provider `P` without being one.
#[derive(Clone, Copy, Debug)]
pub struct Probe<P>(std::marker::PhantomData<P>);

impl<P> Default for Probe<P> {
    fn default() -> Self {
        Self(std::marker::PhantomData)
    }
}

macro_rules! probes {
    ($($capability:ident $with:ident $method:ident;)*) => {
        $(impl<P: $capability> Probe<P> {
            /// Adds the capability.
            #[must_use]
            pub fn $with(&self, route: RouteBuilder<P>) -> RouteBuilder<P> {
                route.$method()
            }
        })*

        /// What happens when the provider lacks a capability: nothing.
        pub trait Fallback<P> {
            $(/// Leaves the route as it is.
            #[must_use]
            fn $with(&self, route: RouteBuilder<P>) -> RouteBuilder<P> {
                route
            })*

            /// Leaves the route as it is.
            #[must_use]
            fn with_table(&self, route: RouteBuilder<P>) -> RouteBuilder<P> {
                route
            }

            /// Ends the route.
            #[must_use]
            fn build(&self, route: RouteBuilder<P>) -> Route {
                route.build()
            }
        }
    };
}

probes! {
    Read with_read read;
    List with_list list;
    Create with_create create;
    Update with_update update;
    Delete with_delete delete;
    Actions with_actions actions;
    Prepare with_prepare prepare;
}

#[cfg(feature = "sea-orm")]
impl<P: crate::provider::Provider<Entity: crate::db::Table>> Probe<P> {
    /// Adds the table.
    #[must_use]
    pub fn with_table(&self, route: RouteBuilder<P>) -> RouteBuilder<P> {
        route.table()
    }
}

impl<P> Fallback<P> for Probe<P> {}
