//! A sheet as pages.

use crate::ExportError;
use crate::sheet::Sheet;

pub(crate) fn write(_: &Sheet, _: &[Vec<u8>]) -> Result<Vec<u8>, ExportError> {
    Err(ExportError::Layout { reason: "not written yet".to_owned() })
}
