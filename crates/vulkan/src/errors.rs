//! What the driver answered, as this library's errors. vulkano's `Display` drops the inner error, so all are shown by `{:?}`.

use ferrotensor_core::{Code, Error};
use std::time::Duration;
use vulkano::{Validated, VulkanError};

/// A call of the driver that failed: memory as `OutOfMemory`, everything else as `Device`.
pub fn driver(what: &str, error: impl Into<Validated<VulkanError>>) -> Error {
    let error = error.into();
    let code = match &error {
        Validated::Error(VulkanError::OutOfDeviceMemory | VulkanError::OutOfHostMemory) => Code::OutOfMemory,
        Validated::Error(_) => Code::Device,
        // A request outside the rules of the interface is a mistake of this crate.
        Validated::ValidationError(_) => Code::Internal,
    };
    Error::new(code, format!("{what}: {error:?}"))
}

/// The device went away with everything on it.
pub fn lost(name: &str) -> Error {
    Error::device(format!(
        "{name} was lost: the driver reports that it stopped working. Tensors on it are gone; new ones may be made"
    ))
}

/// The device stands still.
pub fn hanging(name: &str, patience: Duration) -> Error {
    Error::device(format!(
        "{name} hangs: it has not ended a submission in {} s. Tensors on it are gone; new ones may be made",
        patience.as_secs_f64()
    ))
}

/// A buffer or pipeline made before the device was lost, or by another one.
pub fn foreign(name: &str, what: &str) -> Error {
    Error::device(format!("a {what} of another device, or of {name} from before it was lost: its content is gone"))
}

/// A panic below an entry of the backend.
pub fn panicked(name: &str, panic: &(dyn std::any::Any + Send)) -> Error {
    Error::internal(format!("{name}: {}", panic_text(panic)))
}

/// The words of a panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the driver layer panicked: {}", text.unwrap_or("no message"))
}

/// Memory chosen for the host that the host cannot see.
pub fn unmapped() -> Error {
    Error::internal("staging memory is not mapped")
}
