/** Places where a word of the list says what nothing else says: at most 20, each with its reason. */
export interface Allowed {
  /** The path of a file, or of a folder with `/` at its end. */
  readonly path: string
  /** The name, or the pronoun. */
  readonly name: string
  readonly because: string
}

export const allowed: ReadonlyArray<Allowed> = []
