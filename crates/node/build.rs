//! Links the module as a Node-API addon (symbol lookup flags on macOS and Windows).

fn main() {
    napi_build::setup();
}
