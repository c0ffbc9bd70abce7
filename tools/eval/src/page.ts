/** `docs/reports/eval.md`. */
import { classTable, columns, markdown, policyTable, scenarioTable, type Table } from "./format.ts"
import { meanings, type Rates } from "./rates.ts"
import type { PolicyRow, Report } from "./report.ts"
import type { Settings } from "./settings.ts"
import { formatShare } from "./statistics.ts"

/** What the page is made of. */
export interface Contents {
  readonly report: Report
  /** The same with models that correct themselves less and more often. */
  readonly varied: ReadonlyArray<{ readonly corrects: number; readonly report: Report }>
  /** The same with another seed. */
  readonly repeated: { readonly seed: number; readonly report: Report } | undefined
  readonly rates: Rates
  readonly settings: Pick<Settings, "policies" | "price" | "runs" | "scenarios" | "seed">
  readonly date: string
}

/** The command that writes the same numbers again. */
export const commandOf = ({ rates, settings: { price, runs, seed } }: Pick<Contents, "rates" | "settings">): string =>
  [
    "npm run eval --",
    `--runs=${runs}`,
    `--seed=${seed}`,
    ...Object.entries(rates).map(([name, value]) => `--${name}=${value}`),
    ...(price === undefined ? [] : [`--price=${price.usdPerMillionTokens.input},${price.usdPerMillionTokens.output}`]),
    "--write"
  ].join(" ")

export const page = (contents: Contents): string => {
  const { repeated, date, rates, report, settings, varied } = contents
  const { policies, price, runs, scenarios, seed } = settings
  return [
    "# Does recovery pay off?",
    "",
    "Written by `npm run eval -- --write`; do not edit.",
    "",
    `Each of ${scenarios.length} scenarios lets one thing go wrong, in a run that is sound otherwise; each of ${policies.length} policies has to make up for it.`,
    "A run is healed when the tool has done exactly what the user asked for, once, and the answer has the reference that the tool gave for",
    "that. A reference is drawn anew in each run and stands nowhere else, so neither a policy nor a model can claim a success. The judge",
    "sees what the tools did and what the user reads, and no policy, event or error.",
    "",
    "```sh",
    commandOf(contents),
    "```",
    "",
    `Seed ${seed}, ${runs} runs of each scenario under each policy, ${date}. The same command gives the same numbers. The waits are virtual.`,
    "",
    ...shortly(report),
    "",
    ...harm(report),
    "",
    "## What the numbers do not show",
    "",
    "- **How a real model behaves.** The model is a stand-in that makes the right call by itself and corrects itself with the shares below.",
    "  They are assumptions, and none is taken from a measurement. Others have measured how models take errors of tools, on other tasks:",
    "  [CriticTool](https://arxiv.org/abs/2506.13977); [Tool-Reflection-Bench](https://arxiv.org/abs/2509.18847), whose authors see models",
    "  repeat the same mistake. Ask your own model: [below](#with-a-real-model).",
    "- **How often calls break.** Here each run meets its fault. What recovery is worth to you is this page times how often that happens.",
    "- **How often which fault happens.** All scenarios weigh the same, so the rows of a policy add up to a mean over this list and no other.",
    "  Look at the scenarios that you have.",
    "- **Differences between policies that are the same to the stand-in.** All policies meet the same luck, run by run. It reads",
    "  whether a text names what is wrong, and nothing finer: not the wording, not the sum of all that it was told.",
    "- **Faults that come together.** There is one in a run. The transport, which sends again by itself, has no part in offline runs.",
    "- **A choice of scenarios by others.** `fix-function` and `resilient` have the same authors as the scenarios.",
    "- The intervals are about chance in these runs, not about any of the above.",
    "",
    "## By policy",
    "",
    ...markdown(policyTable(report)),
    "",
    ...columns.map(([name, meaning]) => `- **${name}**: ${meaning}.`),
    "",
    price === undefined
      ? "No price was given, so nothing has a cost."
      : `Costs are in US dollars: ${price.usdPerMillionTokens.input} for a million tokens that the model reads, ${price.usdPerMillionTokens.output} for a million that it writes. A token of the stand-in is four characters.`,
    "",
    ...markdown({
      head: ["policy", "what it does"],
      lines: policies.map(({ name, says }) => [`\`${name}\``, says])
    }).map(leftAligned),
    "",
    "All are in `tools/eval/src/policies.ts`. Coercion is on by default; policies that do not name it switch it off.",
    "",
    "## By kind of fault",
    "",
    "Healed runs, in per cent.",
    "",
    ...markdown(classTable(report)),
    "",
    "## By scenario",
    "",
    "Healed runs, in per cent.",
    "",
    ...markdown(scenarioTable(report)),
    "",
    ...markdown({
      head: ["scenario", "kind", "what goes wrong"],
      lines: scenarios.map(({ name, of, says }) => [`\`${name}\``, of, says])
    }).map(leftAligned),
    "",
    "## The stand-in",
    "",
    ...markdown({
      head: ["share", "value", "what it is"],
      lines: Object.entries(meanings).map(([name, meaning]) => [
        `\`--${name}\``,
        // the names of the meanings are those of the rates
        String(rates[name as keyof Rates]),
        meaning
      ])
    }).map(leftAligned),
    "",
    "It is told what is wrong when the text that it reads names it: the field, the tool, the format of a date. A fixer that asks it sees",
    "nothing of the conversation, so what a damaged call has lost it can only make up or hand back.",
    "",
    "What heals with models that correct themselves less and more often, `guesses` and `mends` in the same measure, and with another seed:",
    "",
    ...markdown(variedTable(varied, repeated)),
    "",
    "## With a real model",
    "",
    "```sh",
    "ANTHROPIC_API_KEY=… npm run eval -- --live --provider=anthropic --model=claude-haiku-4-5 --price=1,5 --max-cost=2",
    "```",
    "",
    "The faults are the same: what the model sends is damaged on its way to the run, so a real model meets broken calls too, as if it had",
    "made them. `npm run eval -- --help` lists the providers. The key is read from the environment and printed nowhere. Without other limits no",
    "run begins once 500,000 tokens are spent; runs come in rounds of all scenarios and policies, so a report that stops there is still",
    "balanced but for its last round. Live runs wait in real time.",
    ""
  ].join("\n")
}

/** What the numbers say, in words. */
const shortly = ({ plain, policies }: Report): ReadonlyArray<string> => {
  const best = policies.reduce<PolicyRow | undefined>(
    (most, row) => (most === undefined || row.healed.rate > most.healed.rate ? row : most),
    undefined
  )
  if (best?.extra === undefined || plain === undefined) return ["Nothing was healed."]
  const more = Math.round((best.extra.tokens / plain.tokens) * 100)
  const frugal = policies.filter(({ extra }) => extra !== undefined && Math.abs(extra.modelCalls) < 0.005)
  const without = frugal.map(({ healed, policy }) => `\`${policy}\` ${formatShare(healed)}`)
  return [
    `In short: \`${best.policy}\` heals most, ${formatShare(best.healed)}, and a run that it has healed takes ${more} % more tokens than one`,
    `without a fault, which takes ${Math.round(plain.tokens)} in ${plain.turns.toFixed(1)} turns.`,
    ...(without.length === 0 ? [] : [`Without one more call of the model heal: ${without.join(", ")}.`])
  ]
}

/** What the policy that knows no tool does although nothing asks for it, and why. */
const harm = ({ policies, scenarios }: Report): ReadonlyArray<string> => {
  const index = policies.findIndex(({ policy }) => policy === "resilient")
  const row = policies[index]
  if (row === undefined) return []
  const where = scenarios.flatMap(({ scenario, wrong }) => (wrong[index] ? [`\`${scenario}\` ${wrong[index]}`] : []))
  return [
    `In ${row.wrong} of ${row.runs} runs under \`resilient\` a tool does what the user has not asked for${where.length === 0 ? "" : ` (${where.join(", ")})`}, and the silent failures are ${row.silent}.`,
    "Such runs are of `lost-after-work`: the room is booked, and the tool cannot say so. The model reads that the call may have taken effect.",
    "If the model makes the same call at once, `resilient` holds the call, and the model reads that it should look first. The call after that",
    "runs, so a model that overlooks both texts books twice: by the shares below, 2 in 100. The goal was none. `resilient` does not hold the",
    "call for good: a tool that declares nothing may only read, and then a second call is what helps."
  ]
}

const leftAligned = (line: string): string => line.replaceAll("--:", "---")

const variedTable = (varied: Contents["varied"], repeated: Contents["repeated"]): Table => ({
  head: [
    "policy",
    ...varied.map(({ corrects }) => `corrects ${corrects}`),
    ...(repeated === undefined ? [] : [`seed ${repeated.seed}`])
  ],
  lines: (varied[0]?.report.policies ?? []).map(({ policy }, index) => [
    policy,
    ...[...varied, ...(repeated === undefined ? [] : [repeated])].map(({ report }) => {
      const row = report.policies[index]
      return row === undefined ? "" : formatShare(row.healed)
    })
  ])
})
