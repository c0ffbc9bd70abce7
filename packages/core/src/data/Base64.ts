/** Bytes that are written in base64. */

/** How many bytes a text in base64 stands for. */
export const bytesIn = (base64: string): number => {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.floor(((base64.length - padding) * 3) / 4)
}
