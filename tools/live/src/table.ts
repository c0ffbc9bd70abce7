/** What the program prints: a table of scenarios and models, then what is to be said about single cells. */
import type { Difference } from "./form.ts"
import type { Outcome } from "./records.ts"

/** `not offered`: the library refuses the request, because the provider has no such thing. */
export interface Cell {
  readonly scenario: string
  readonly state: "ok" | "not offered" | "fails"
  readonly note: string
  readonly record: Outcome
}

/** The cells of one model, one for each scenario. */
export interface Column {
  /** `provider model` */
  readonly title: string
  readonly cells: ReadonlyArray<Cell>
}

export const isFine = ({ record, state }: Cell): boolean =>
  state !== "fails" && record.state !== "leaky" && record.differences.length === 0

export const render = (columns: ReadonlyArray<Column>): string => {
  const names = columns[0]?.cells.map(({ scenario }) => scenario) ?? []
  const rows = [
    ["scenario", ...columns.map(({ title }) => title)],
    ...names.map((name, index) => [name, ...columns.map(({ cells }) => wordsOf(cells[index]))])
  ]
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  const table = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd()
  )
  const failures = lines(columns, ({ note, state }) => (state === "fails" ? [note] : []))
  const found = lines(columns, ({ record }) =>
    record.state === "leaky" ? ["the record had a key, and was thrown away"] : record.differences.map(differenceText)
  )
  const firsts = columns.flatMap(({ cells }) => cells.filter(({ record }) => record.state === "first")).length
  return [
    ...table,
    ...(failures.length === 0 ? [] : ["", `failures: ${failures.length}`, ...failures]),
    "",
    `differences to the last record: ${found.length}`,
    ...found,
    ...(firsts === 0 ? [] : [`records without a last one: ${firsts}`]),
    ""
  ].join("\n")
}

const wordsOf = (cell: Cell | undefined): string => {
  if (cell === undefined) return ""
  return cell.state === "ok" ? `ok: ${cell.note}` : cell.state
}

const lines = (columns: ReadonlyArray<Column>, of: (cell: Cell) => ReadonlyArray<string>): ReadonlyArray<string> =>
  columns.flatMap(({ cells, title }) =>
    cells.flatMap((cell) => of(cell).map((text) => `  ${title}, ${cell.scenario}: ${text}`))
  )

const differenceText = ({ after, answer, before, change, field }: Difference): string => {
  const [old, now] = [before.join(" or "), after.join(" or ")]
  const what = change === "changed" ? `changed: ${old} → ${now}` : `${change} (${change === "appeared" ? now : old})`
  return `answer ${answer}: ${field} ${what}`
}
