/** Places where a word of the list says what nothing else says: at most 20, each with its reason. */
export interface Allowed {
  /** The path of a file, of a folder with `/` at its end, or `.` for all. */
  readonly path: string
  /** The name, the pronoun, or the kind of event or of data in its quotes. */
  readonly name: string
  readonly because: string
}

export const allowed: ReadonlyArray<Allowed> = [
  { path: ".", name: '"settled-call"', because: "a call with its settlement: the participle of the one verb" },
  { path: ".", name: '"told"', because: "the kind of a settlement by which a failure was told, in stored messages" },
  { path: "packages/core/src/data/parts.ts", name: "SettledCall", because: "the type of such a call" },
  {
    path: "packages/view/src/scene/Shapes.ts",
    name: '"asked"',
    because: "the tone of a mark where a person is asked for a decision"
  },
  { path: ".", name: '"ask-again"', because: "the option by which an expired request for approval is made anew" },
  {
    path: ".",
    name: "kept",
    because: "the field of `attempt-continued` with the text that the next attempt goes on from"
  },
  { path: ".", name: "above", because: "the length of results above which they are put aside" },
  { path: "packages/view/src/browser/sums.ts", name: "open", because: "the attribute of HTML" },
  {
    path: "packages/core/src/run/",
    name: "open",
    because: "the calls that a run leaves at work, by its rule"
  },
  { path: "packages/core/src/event/", name: "open", because: "the same in the event of its end" },
  { path: "test/core/event/codec.test.ts", name: "open", because: "the same in that event" },
  { path: "tools/durable-lab/src/postgres.ts", name: "nobody", because: "the account of Unix" }
]
