//! Nothing: `Cargo.toml` says which features of shared dependencies all packages of the workspace ask for.
