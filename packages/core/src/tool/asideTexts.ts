/** The texts that a model reads about results which were put aside. */

/** The head of a result that was put aside, and how to read on. */
export const putAside = (head: string, handle: string, end: number, length: number): string =>
  `${head}\n\n[Characters 0 to ${end} of ${length}. The result is put aside: read on with read_result, with handle: "${handle}" and from: ${end}.]`

/** A page of a result that was put aside. */
export const pageOf = (page: string, from: number, end: number, length: number): string =>
  `${page}\n\n[Characters ${from} to ${end} of ${length}.${end < length ? ` Read on with from: ${end}.` : " This is the end."}]`

export const beyondResult = (from: number, length: number): string =>
  `The result has ${length} characters: it ends before ${from}.`

export const noResult = (handle: string): string =>
  `There is no result with handle ${shown(handle)} here. Take the handle from a result that was put aside.`

export const removedResult = (handle: string): string =>
  `The result with handle ${shown(handle)} was removed: when there is no room for more, the oldest go. Call its tool once more if you need it.`

export const unreadableResult = (handle: string): string =>
  `The result with handle ${shown(handle)} cannot be read just now.`

/** Shortens a handle for a text, because a model may write a text of any length as a handle. */
const shown = (handle: string): string => JSON.stringify(handle.slice(0, 100))
