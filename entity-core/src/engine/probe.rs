//! Detection of the capabilities of a provider at compile time.
//!
//! An inherent method of [`Probe`] exists only if the provider has the capability; otherwise the method of the same
//! name of [`Fallback`] is called, which leaves the route as it is. The fallback demands nothing of the provider, so
//! that the compiler reports a type that is no provider only once.

use crate::contract::blob::Receive;
use crate::contract::provider::{Actions, Create, Delete, List, Read, Update};
use crate::{contract::registry::Route, engine::builder::RouteBuilder};

/// A value that stands for the provider type `P`.
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
            /// Adds the capability to `route`.
            #[must_use]
            pub fn $with(&self, route: RouteBuilder<P>) -> RouteBuilder<P> {
                route.$method()
            }
        })*

        /// The methods for capabilities that a provider lacks, which do nothing.
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

            /// Builds the route.
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
    Receive with_receive receive;
}

#[cfg(feature = "sea-orm")]
impl<P: crate::contract::provider::Provider<Entity: crate::db::Record>> Probe<P> {
    /// Adds the table of the provider to `route`.
    #[must_use]
    pub fn with_table(&self, route: RouteBuilder<P>) -> RouteBuilder<P> {
        route.table()
    }
}

impl<P> Fallback<P> for Probe<P> {}
