// The device that tests without a device of their own are on. `FERROTENSOR_DEVICE=vulkan:0 npx ava` runs all of them there; a test that
// speaks of another device names it.

/** Its name: as FERROTENSOR_DEVICE says, else the processor, which is the best real device where nobody names one. */
export const tested = process.env['FERROTENSOR_DEVICE'] || 'cpu'
