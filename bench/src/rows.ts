/** All rows of the table, each of which has a process of its own: what one leaves behind in the compiler is nothing to the next. */

export interface RowFile {
  readonly name: string
  readonly flags: ReadonlyArray<string>
}

/** Collected between portions, in a young generation that is large enough not to be what is measured. */
const timed = ["--expose-gc", "--max-semi-space-size=64"]
/** Nothing is collected while a portion is measured. */
const counted = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"]

export const rows: ReadonlyArray<RowFile> = [
  { name: "happy", flags: timed },
  { name: "events", flags: timed },
  { name: "growth", flags: timed },
  { name: "retry", flags: timed },
  { name: "mended", flags: timed },
  { name: "table", flags: counted },
  { name: "allocation", flags: counted },
  { name: "concurrent", flags: [] },
  { name: "stream", flags: timed },
  { name: "http", flags: timed },
  { name: "bundle", flags: ["--disable-warning=ExperimentalWarning"] },
  { name: "start", flags: ["--disable-warning=ExperimentalWarning"] },
  { name: "weight", flags: ["--disable-warning=ExperimentalWarning"] },
  { name: "worker", flags: ["--disable-warning=ExperimentalWarning"] },
  { name: "holding", flags: ["--expose-gc"] },
  { name: "types", flags: [] },
  { name: "errors", flags: [] },
  { name: "coercion", flags: [] },
  { name: "partials", flags: [] },
  { name: "leaks", flags: [] }
]
