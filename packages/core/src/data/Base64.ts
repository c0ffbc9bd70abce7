/** Bytes that are written in base64. */

/** How many bytes a text in base64 stands for. */
export const bytesIn = (base64: string): number => {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  return Math.floor(((base64.length - padding) * 3) / 4)
}

/** The base64 bytes of an attachment, given alone or in a `data:` URL. `undefined` for any other URL. */
export const base64Of = (part: object): string | undefined => {
  const given = "data" in part ? part.data : "url" in part ? part.url : undefined
  if (typeof given !== "string") return undefined
  const start = /^data:[^,]*;base64,/i.exec(given)?.[0].length
  return start === undefined && !("data" in part) ? undefined : given.slice(start)
}

/** An image or a file in words, in the place of its bytes. */
export const inWords = (
  { mediaType, name, type }: { readonly type: string; readonly mediaType: string; readonly name?: string | undefined },
  ...more: ReadonlyArray<string>
): string => `[${[name === undefined ? type : `${type} '${name}'`, mediaType, ...more].join(", ")}]`

/** Describes an attachment whose bytes the reader does not get. */
export const notShown = "not shown"
