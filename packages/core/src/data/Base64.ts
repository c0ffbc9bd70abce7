/** Bytes that are written in base64. */

/** How many bytes a text in base64 stands for. */
export const bytesIn = (base64: string): number => {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.floor(((base64.length - padding) * 3) / 4)
}

/** An image or a file in words, in the place of its bytes. */
export const inWords = (
  { mediaType, name, type }: { readonly type: string; readonly mediaType: string; readonly name?: string | undefined },
  ...more: ReadonlyArray<string>
): string => `[${[name === undefined ? type : `${type} '${name}'`, mediaType, ...more].join(", ")}]`

/** Of its bytes a reader has their number. */
export const notShown = "not shown"
