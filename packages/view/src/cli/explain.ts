/** The command `kintsugi explain`: it shows the worst case of policies, alone or stacked. */
import type { Explanation } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as PolicyPage from "../policy/PolicyPage.ts"
import * as PolicySvg from "../policy/PolicySvg.ts"
import * as PolicyText from "../policy/PolicyText.ts"
import * as PolicyView from "../policy/PolicyView.ts"
import { Failed, Misused } from "./failure.ts"
import { coreOf, load, type Named, parse, valueAt } from "./loading.ts"
import { type Policy, policyOf } from "./policy.ts"
import { emphasis } from "./terminal.ts"
import { formatFlag, outputFlag, shown, targetOf, write } from "./writing.ts"

const formats = ["text", "svg", "html"] as const

const policies = Argument.Path("policy").pipe(
  Argument.withMetavar("<file#name>"),
  Argument.withDescription(
    "A module and the name of one of its exports: a table, verdict, schedule, tool, model or agent. Without a name it is the default export, or the only policy. Several are stacked, outermost first"
  ),
  Argument.variadic({ min: 1 })
)

const row = Flag.String("row").pipe(
  Flag.withMetavar("<error>"),
  Flag.withDescription(
    "The row that meets the failures, in each table that has it; by default the row with the most attempts"
  ),
  Flag.optional
)

/** A policy that a command names, and its name in the picture. */
interface Found {
  readonly name: string
  readonly policy: Policy
}

const find = (named: Named) =>
  Effect.gen(function* () {
    const file = yield* shown(named.file)
    const exported = yield* load(named.file)
    const core = yield* coreOf(named.file)
    // a getter of the module may throw
    const tried = <A>(make: () => A) =>
      Effect.try({
        try: make,
        catch: (error) =>
          new Failed({
            message: `${file}#${named.name ?? "default"} cannot be explained: ${error instanceof Error ? error.message : String(error)}`
          })
      })
    const read = (value: unknown) => tried(() => policyOf(value, core))
    const names = Object.keys(exported)
    const explained = new Map<string, Policy>()
    for (const [name, value] of Object.entries(exported)) {
      const policy = yield* Effect.orElseSucceed(read(value), () => undefined)
      if (policy !== undefined) explained.set(name, policy)
      else {
        for (const [field, one] of yield* Effect.orElseSucceed(
          tried(() => fieldsOf(value)),
          // Mutant `["Stryker was here"]` survives: a text is no policy
          () => []
        )) {
          const inner = yield* Effect.orElseSucceed(read(one), () => undefined)
          if (inner !== undefined) explained.set(`${name}.${field}`, inner)
        }
      }
    }
    const there =
      explained.size === 0
        ? `${file} exports no policy${names.length === 0 ? "" : `, but ${names.join(", ")}`}`
        : `the policies in ${file} are ${[...explained].map(([name, { what }]) => `${name} (${what})`).join(", ")}`
    if (named.name === undefined) {
      const [only, ...others] = explained
      const [name, policy] = explained.has("default") ? ["default", explained.get("default")] : (only ?? [])
      // Mutants `false` for `name === undefined`, `false` for `policy === undefined` survive: a name has its policy
      if (name === undefined || policy === undefined) return yield* new Failed({ message: there })
      if (name !== "default" && others.length > 0) {
        return yield* new Failed({ message: `${file} has several policies, name one as ${file}#${name}: ${there}` })
      }
      return { name: name === "default" ? file : name, policy }
    }
    const { name } = named
    const [value, isThere] = yield* tried(() => valueAt(exported, name))
    if (!isThere) return yield* new Failed({ message: `${file} exports no '${name}': ${there}` })
    const policy = yield* read(value)
    if (policy === undefined) return yield* new Failed({ message: `'${name}' in ${file} is no policy: ${there}` })
    return { name, policy }
  })

/** The entries of a plain object; empty for any other value. */
const fieldsOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? Object.entries(value)
    : []

/** The layers of a stack below the first one. They must be single layers, because an agent is always the outermost. */
const layersOf = (found: ReadonlyArray<Found>): Effect.Effect<ReadonlyArray<Explanation.TimelineLayer>, Misused> =>
  Effect.forEach(found, ({ name, policy }) =>
    policy.kind === "layer"
      ? Effect.succeed({ name, explanation: policy.explanation })
      : Effect.fail(new Misused({ message: `'${name}' is ${policy.what}: it is outermost, so name it first` }))
  )

const viewOf = (first: Found, rest: ReadonlyArray<Found>, row: string | undefined) =>
  Effect.gen(function* () {
    const options = row === undefined ? {} : { row }
    const inner = yield* layersOf(rest)
    const { name, policy } = first
    if (policy.kind === "layer") return PolicyView.make([{ name, explanation: policy.explanation }, ...inner], options)
    const [outermost, ...others] = inner
    const transport = outermost === undefined ? undefined : PolicyView.together([outermost, ...others])
    if (policy.kind === "composition") return PolicyView.ofBounds(name, policy.bounds(transport))
    return PolicyView.ofRun(name, policy.run(transport), { inner, ...options })
  })

/** Checks that a table has the row that the command names. */
const withRow = (view: PolicyView.View, row: string | undefined) => {
  const rows = view.stacks.flatMap(({ layers }) =>
    layers.flatMap(({ explanation }) => explanation.rows.map(({ key }) => key))
  )
  return row === undefined || rows.includes(row)
    ? Effect.succeed(view)
    : Effect.fail(new Failed({ message: `no table has a row '${row}'; the rows are ${[...new Set(rows)].join(", ")}` }))
}

/** Makes the text, the drawing or the page of a view. */
const drawn = (view: PolicyView.View, format: (typeof formats)[number]) =>
  format === "text"
    ? Effect.map(emphasis, (emphasise) => PolicyText.format(view, { emphasise }))
    : Effect.succeed(format === "svg" ? PolicySvg.draw(view) : PolicyPage.make(view))

export const command = Command.make(
  "explain",
  { policies, row, output: outputFlag, format: formatFlag(formats) },
  (given) =>
    Effect.gen(function* () {
      const named = yield* Effect.forEach(given.policies, parse)
      const target = yield* targetOf(
        given,
        formats,
        "text",
        named.map(({ file }) => file)
      )
      const [first, ...rest] = yield* Effect.forEach(named, find)
      // the argument parser demands at least one policy
      if (first === undefined) return yield* new Misused({ message: "name a policy" })
      const row = Option.getOrUndefined(given.row)
      const view = yield* Effect.flatMap(viewOf(first, rest, row), (view) => withRow(view, row))
      const text = yield* drawn(view, target.format)
      yield* write(target, text)
    })
).pipe(
  Command.withDescription(
    "The waits of a policy, best and worst, and what bounds it, without running it. Several policies are layers, outermost first: their worst cases multiply. The modules are imported, and Node strips their types"
  ),
  Command.withShortDescription("the waits of a policy, best, worst and with jitter"),
  Command.withExamples([
    { command: "kintsugi explain policy.ts#search", description: "the table 'search' of policy.ts, as text" },
    { command: "kintsugi explain policy.ts#search -o search.svg", description: "a drawing of it" },
    {
      command: "kintsugi explain agent.ts#model http.ts#transport -o layers.html",
      description: "three sends under three calls are nine requests"
    },
    { command: "kintsugi explain agent.ts#clerk", description: "all tables of an agent, and what bounds a run" }
  ])
)
