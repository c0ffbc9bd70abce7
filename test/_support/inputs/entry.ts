/** What is said of each exported function that sees foreign text: how it grows, or why it cannot. */

/** For each family a function that makes an input of about so many characters. */
export type Inputs<A> = Readonly<Record<string, (size: number) => A>>

/** One family of inputs, with what is done to one of them. */
export interface Growing {
  readonly family: string
  /** Makes an input, and gives what is to be measured. */
  readonly prepare: (size: number) => () => unknown
}

export interface Grows {
  readonly kind: "grows"
  readonly families: ReadonlyArray<Growing>
  /** Where a bound cuts off what is longer: the length up to which it is measured as well. */
  readonly bound?: number
}

export type Entry = Grows | { readonly kind: "reached" } | { readonly kind: "none"; readonly reason: string }

/** By the names of what a file exports. */
export type Names = Readonly<Record<string, Entry>>

/** By the paths of the files, from `packages`. */
export type Table = Readonly<Record<string, Names>>

/** Measured on these inputs, below the bound too if there is one. What it gives may be a promise. */
export const grows = <A>(inputs: Inputs<A>, act: (input: A) => unknown, bound?: number): Entry => ({
  kind: "grows",
  ...(bound === undefined ? {} : { bound }),
  families: Object.entries(inputs).map(([family, make]) => ({
    family,
    prepare: (size) => {
      const input = make(size)
      return () => act(input)
    }
  }))
})

/** One function, measured in several ways. */
export const merged = (ways: Readonly<Record<string, Entry>>): Entry => ({
  kind: "grows",
  families: Object.entries(ways).flatMap(([way, entry]) =>
    entry.kind === "grows"
      ? entry.families.map(({ family, prepare }) => ({ family: `${way}: ${family}`, prepare }))
      : []
  )
})

/** Measured as a part of another function of these tables, which calls it with its text. A test sees that it is called. */
export const reached: Entry = { kind: "reached" }

/** Needs no measurement. */
export const none = (reason: string): Entry => ({ kind: "none", reason })

/** The same of several functions. */
export const each = (entry: Entry, ...names: ReadonlyArray<string>): Names =>
  Object.fromEntries(names.map((name) => [name, entry]))

/** The same inputs, each turned into something else. */
export const mapped = <A, B>(inputs: Inputs<A>, f: (input: A) => B): Inputs<B> =>
  Object.fromEntries(Object.entries(inputs).map(([family, make]) => [family, (size) => f(make(size))]))

export const wraps = none("puts its arguments into an object and looks at none of them")
export const fixed = none("takes a number, a flag or one of our own words")
export const looksOnce = none("reads one field or compares one word, and looks at nothing beneath")
export const schema = none("a schema or an error class of fields; its message is that of the function that makes it")
export const effectOnly = none("puts effects together; the texts in them are for others")
export const dom = none("draws in a browser what a scene of bounded size holds")
