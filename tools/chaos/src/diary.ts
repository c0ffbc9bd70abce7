/** What a process does to the world, one line of JSON each. The file outlives the process. */
import { appendFileSync, existsSync, readFileSync } from "node:fs"

/** `at` is in milliseconds by the clock of the machine. */
export type Entry =
  /** The last bytes of a reply of the model server were read. */
  | { readonly type: "read"; readonly id: string; readonly at: number }
  /** The unsafe tool begins, for a refund with this key. */
  | { readonly type: "pays"; readonly key: string; readonly at: number }
  /** `verify` of the unsafe tool has looked the refund up. */
  | { readonly type: "looked"; readonly key: string; readonly found: boolean; readonly at: number }

/** An entry before it is written. */
type Unwritten = Entry extends infer One ? (One extends Entry ? Omit<One, "at"> : never) : never

export const writer =
  (file: string) =>
  (entry: Unwritten): void =>
    appendFileSync(file, `${JSON.stringify({ ...entry, at: Date.now() })}\n`)

/** A process that is killed may leave half of a line. */
export const entriesOf = (file: string): ReadonlyArray<Entry> =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    : []
