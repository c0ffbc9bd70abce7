/** The page of the results, and what is wrong with them. */
import type { Baseline, Mutant, Outcome } from "./protocol.ts"
import { nameOf, named, type Reason } from "./reasons.ts"
import { LEAST, targetOf, targets } from "./targets.ts"

/** A test of a rule that may find out no mutant. */
export interface Accepted {
  readonly test: string
  readonly reason: string
}

export interface Idle {
  /** Tests of rules that come by mutants and find out none. */
  readonly idle: ReadonlyArray<Baseline>
  /** Tests of rules that come by no mutant. */
  readonly elsewhere: ReadonlyArray<Baseline>
  /** All tests of rules. */
  readonly count: number
}

/** What became of all mutants, those left out that do not compile. */
export interface Results {
  readonly outcomes: ReadonlyArray<Outcome>
  readonly uncompilable: number
  readonly idle: Idle
  /** Why mutants survive, of all sources. */
  readonly reasons: ReadonlyArray<Reason>
  /** Tests of rules that may find out nothing. */
  readonly acceptedTests: ReadonlyArray<Accepted>
}

interface Score {
  readonly mutants: number
  readonly killed: number
  readonly timeouts: number
  readonly survived: number
  readonly percent: number
}

export const scoreOf = (outcomes: ReadonlyArray<Outcome>): Score => {
  const count = (status: Outcome["status"]) => outcomes.filter((one) => one.status === status).length
  const [killed, timeouts, survived] = [count("killed"), count("timeout"), count("survived")] as const
  const mutants = outcomes.length
  return { mutants, killed, timeouts, survived, percent: mutants === 0 ? 100 : (100 * (killed + timeouts)) / mutants }
}

const filesOf = (outcomes: ReadonlyArray<Outcome>) => [...new Set(outcomes.map(({ mutant }) => mutant.file))].toSorted()

const survivorsIn = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Mutant> =>
  outcomes.filter(({ status }) => status === "survived").map(({ mutant }) => mutant)

const explained = (outcomes: ReadonlyArray<Outcome>, reasons: ReadonlyArray<Reason>) =>
  named(
    reasons,
    outcomes.map(({ mutant }) => mutant)
  )

/** The survivors that no reason names. */
export const unexplained = ({ outcomes, reasons }: Pick<Results, "outcomes" | "reasons">): ReadonlyArray<Mutant> => {
  const explainedMutants = new Set(explained(outcomes, reasons).flatMap(({ mutants }) => mutants))
  return survivorsIn(outcomes).filter((mutant) => !explainedMutants.has(mutant))
}

/** Everything for which the run fails, one line each. */
export const complaints = ({ acceptedTests, idle, outcomes, reasons }: Results): ReadonlyArray<string> => {
  const all = outcomes.map(({ mutant }) => mutant)
  const alive = new Set(survivorsIn(outcomes))
  const files = new Set(filesOf(outcomes))
  const tried = reasons.filter(({ file }) => files.has(file))
  const overall = scoreOf(outcomes).percent
  const explainedTests = new Set(acceptedTests.map(({ test }) => test))
  const idleKeys = new Set(idle.idle.map(({ key }) => key))
  return [
    ...(overall < LEAST.overall ? [`the score is ${overall.toFixed(1)} %, below ${LEAST.overall} %`] : []),
    ...filesOf(outcomes).flatMap((file) => {
      const { percent } = scoreOf(outcomes.filter(({ mutant }) => mutant.file === file))
      return percent < LEAST.file ? [`${file}: the score is ${percent.toFixed(1)} %, below ${LEAST.file} %`] : []
    }),
    ...unexplained({ outcomes, reasons }).map(
      (mutant) =>
        `${mutant.file}:${mutant.line}: // Mutant ${nameOf(mutant, all)} survives, without a reason: ${mutant.from} => ${mutant.to}`
    ),
    ...explained(outcomes, tried).flatMap(({ mutants, reason: { file, line, to } }) =>
      mutants.length === 0
        ? [`${file}:${line}: a reason names no mutant of this line: ${to}`]
        : mutants
            .filter((mutant) => !alive.has(mutant))
            .map(({ from }) => `${file}:${line}: is found out and needs no reason: ${from} => ${to}`)
    ),
    ...reasons
      .filter(({ file }) => targetOf(file) === undefined)
      .map(({ file, line }) => `${file}:${line}: a reason in a file that is not mutated`),
    ...idle.idle
      .filter(({ key }) => !explainedTests.has(key))
      .map(({ key }) => `finds out no mutant, without a reason: ${key}`),
    ...acceptedTests.filter(({ test }) => !idleKeys.has(test)).map(({ test }) => `needs no reason: ${test}`)
  ]
}

const cell = (text: string) => text.replaceAll("|", "\\|")

/** Code in a cell of a table, with any quotes. */
const code = (text: string) => {
  const short = text.length > 110 ? `${text.slice(0, 107)}…` : text
  return short.includes("`") ? `\`\` ${cell(short)} \`\`` : `\`${cell(short === "" ? " " : short)}\``
}

const row = (name: string, outcomes: ReadonlyArray<Outcome>) => {
  const { killed, mutants, percent, survived, timeouts } = scoreOf(outcomes)
  return `| ${name} | ${mutants} | ${killed} | ${timeouts} | ${survived} | ${percent.toFixed(1)} |`
}

const head = (name: string) => [
  `| ${name} | mutants | found out | by a timeout | survived | score, % |`,
  "| --- | --- | --- | --- | --- | --- |"
]

const survivorLines = (outcomes: ReadonlyArray<Outcome>, reasons: ReadonlyArray<Reason>): ReadonlyArray<string> => {
  const reasonOf = new Map(
    explained(outcomes, reasons).flatMap(({ mutants, reason }) => mutants.map((mutant) => [mutant, reason.reason]))
  )
  return filesOf(outcomes).flatMap((file) => {
    const survivors = survivorsIn(outcomes.filter(({ mutant }) => mutant.file === file))
    if (survivors.length === 0) return []
    const rows = survivors.map(
      (mutant) => `| ${code(mutant.from)} | ${code(mutant.to)} | ${cell(reasonOf.get(mutant) ?? "**not explained**")} |`
    )
    return ["", `### ${file}`, "", "| instead of | stands | why it survives |", "| --- | --- | --- |", ...rows]
  })
}

const counted = <A>(
  values: ReadonlyArray<A>,
  keyOf: (value: A) => string
): ReadonlyArray<readonly [string, number]> => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(keyOf(value), (counts.get(keyOf(value)) ?? 0) + 1)
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** The page. */
export const page = (
  { acceptedTests, idle, outcomes, reasons, uncompilable }: Results,
  { date, machine }: { date: string; machine: string }
) => {
  const named = (name: string) => outcomes.filter(({ mutant }) => targetOf(mutant.file)?.name === name)
  const whyIdle = new Map(acceptedTests.map(({ reason, test }) => [test, reason]))
  return [
    "# Mutation testing",
    "",
    "Written by `npm run mutation -- --write`; do not edit.",
    "",
    "A mutant is the source with one small mistake in it: a `<` for a `<=`, a text or a block left out, a condition that is always",
    "true. The tests find a mutant out when one of them fails, or does not end, because of it. The mutants are Stryker's, without",
    `those that do not compile (${uncompilable} here). \`npm run mutation\` tries them all and fails when the score is below`,
    `${LEAST.overall} % overall or ${LEAST.file} % in a file, when no comment above its line explains a survivor, when a`,
    "comment explains a mutant that is found out by now, or when a test that is named after a rule finds out no mutant and",
    "`tools/mutation/idleTests.json` has no reason for that.",
    "",
    `Measured on ${date}, on ${machine}, with the tests of the packages and of \`test/laws\`.`,
    "",
    "## Scores",
    "",
    ...head("what"),
    ...targets.map(({ name }) => row(`\`${name}\``, named(name))),
    row("**all**", outcomes),
    "",
    ...head("file"),
    ...filesOf(outcomes).map((file) =>
      row(
        `\`${file}\``,
        outcomes.filter(({ mutant }) => mutant.file === file)
      )
    ),
    "",
    "## Tests of rules that find out no mutant",
    "",
    `Of ${idle.count} tests that are named after rules, ${idle.elsewhere.length} come by none of the files above: they are about other`,
    "modules, and no mutant of these can fail them.",
    "",
    "| test file | such tests |",
    "| --- | --- |",
    ...counted(idle.elsewhere, ({ file }) => file).map(([file, count]) => `| \`${file}\` | ${count} |`),
    "",
    idle.idle.length === 0
      ? "All others find out at least one."
      : `Of the others, ${idle.idle.length} find out none of the mutants that they come by:`,
    ...(idle.idle.length === 0 ? [] : ["", "| test | why |", "| --- | --- |"]),
    ...idle.idle.map(({ key }) => `| ${cell(key)} | ${cell(whyIdle.get(key) ?? "**not explained**")} |`),
    "",
    "## Survivors",
    ...survivorLines(outcomes, reasons),
    ""
  ].join("\n")
}
