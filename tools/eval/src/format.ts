/** The report as text. */
import type { PolicyRow, Report } from "./report.ts"
import { classes } from "./scenario.ts"
import { formatShare } from "./statistics.ts"

/** Columns and lines of a table, its first column a name. */
export interface Table {
  readonly head: ReadonlyArray<string>
  readonly lines: ReadonlyArray<ReadonlyArray<string>>
}

/** What stands where there is nothing to say. */
const none = "–"

const number = (value: number | undefined, digits: number): string => {
  if (value === undefined) return none
  // what rounds to nothing is neither more nor less
  const rounded = Number(value.toFixed(digits))
  return (rounded === 0 ? 0 : rounded).toFixed(digits)
}

const costs = 1000

/** One line for each policy. */
export const policyTable = ({ policies }: Report): Table => ({
  head: [
    "policy",
    "runs",
    "healed (95 %)",
    "claimed",
    "silent",
    "wrong",
    "+turns",
    "+calls",
    "+tokens",
    "+cost",
    "waited",
    "tokens/healed",
    "cost/healed"
  ],
  lines: policies.map((row) => [row.policy, String(row.healed.of), formatShare(row.healed), ...amounts(row)])
})

const amounts = ({
  claimed,
  costPerHealed,
  extra,
  silent,
  tokensPerHealed,
  waited,
  wrong
}: PolicyRow): ReadonlyArray<string> => [
  String(claimed),
  String(silent),
  String(wrong),
  number(extra?.turns, 2),
  number(extra?.modelCalls, 2),
  number(extra?.tokens, 0),
  number(extra === undefined ? undefined : extra.cost * costs, 2),
  waited === undefined ? none : `${number(waited / 1000, 1)} s`,
  number(tokensPerHealed, 0),
  number(costPerHealed === undefined ? undefined : costPerHealed * costs, 2)
]

/** What its columns mean. */
export const columns: ReadonlyArray<readonly [name: string, meaning: string]> = [
  ["runs", "in which the fault has happened"],
  ["healed", "of these, with Wilson's interval at 95 %"],
  ["claimed", "runs not healed, whose model claims a success although the last that it was told was a failure"],
  ["silent", "other runs that gave an answer and no error, and have not done what they were asked for"],
  ["wrong", "runs in which a tool did something that the user had not asked for, or did it twice"],
  [
    "+turns, +calls, +tokens, +cost",
    "of a healed run, beyond the same scenario without a fault; cost of a thousand runs"
  ],
  ["waited", "by the policy, in a healed run"],
  ["tokens/healed, cost/healed", "of all runs with a fault, divided by those that were healed; cost of a thousand"]
]

/** One line for each policy, with what it heals of each kind of fault, in per cent. */
export const classTable = ({ policies }: Report): Table => ({
  head: ["policy", ...classes],
  lines: policies.map((row) => [
    row.policy,
    ...classes.map((of) => (row.classes[of].of === 0 ? none : String(Math.round(row.classes[of].rate * 100))))
  ])
})

/** One line for each scenario, in per cent of the runs in which its fault has happened. */
export const scenarioTable = ({ policies, scenarios }: Report): Table => ({
  head: ["scenario", ...policies.map(({ policy }) => policy)],
  lines: scenarios.map(({ healed, scenario }) => [
    scenario,
    ...healed.map(({ of, rate }) => (of === 0 ? none : String(Math.round(rate * 100))))
  ])
})

/** For terminals: columns side by side, numbers to the right. */
export const plain = ({ head, lines }: Table): string => {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => (line[column] ?? "").length))
  )
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, column) => {
          const width = widths[column] ?? 0
          return column === 0 ? cell.padEnd(width) : cell.padStart(width)
        })
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** For pages. */
export const markdown = ({ head, lines }: Table): ReadonlyArray<string> =>
  [head, head.map((_, column) => (column === 0 ? "---" : "--:")), ...lines].map((line) => `| ${line.join(" | ")} |`)

/** All of it, for a terminal. */
export const format = (report: Report): string => {
  const { plain: usual, sound, spent } = report
  return [
    `without a fault: ${sound.count} of ${sound.of} runs did what they were asked for` +
      (usual === undefined ? "" : `, in ${number(usual.turns, 1)} turns and ${number(usual.tokens, 0)} tokens`),
    "",
    plain(policyTable(report)),
    "",
    ...columns.map(([name, meaning]) => `  ${name}: ${meaning}`),
    "",
    "healed, in per cent:",
    "",
    plain(classTable(report)),
    "",
    plain(scenarioTable(report)),
    "",
    `${spent.runs} runs, ${spent.tokens} tokens, cost ${number(spent.cost, 4)}`,
    ...(spent.runs < spent.planned
      ? [`stopped at the limit of spending, after ${spent.runs} of ${spent.planned} runs`]
      : [])
  ].join("\n")
}
