//! The checks of the kit on the types of the guide's last chapter.

mod equipment {
    use crate::equipment::Equipment;

    lectern_testing::conformance!(Equipment);
}

mod booking {
    use http::StatusCode;
    use lectern_testing::{Role, TestApp};
    use serde_json::{Value, json};

    use crate::equipment::Booking;

    /// Each booking is of equipment of its own, so that it is there first.
    async fn booking(app: &TestApp, site: &str, number: usize) -> Value {
        let admin = app.role(Role::Superuser).await;
        let equipment = json!({"siteId": site, "name": format!("Microscope {number}")});
        let made = admin.post("/direct/equipment.json", &equipment).await;
        made.expect(StatusCode::CREATED);
        json!({
            "siteId": site,
            "equipmentId": made.header("EntityId"),
            "starts": "2026-12-07T09:00:00Z",
            "ends": "2026-12-07T11:00:00Z",
            "purpose": format!("Onion cells {number}"),
        })
    }

    lectern_testing::conformance!(Booking, make = booking);
}
