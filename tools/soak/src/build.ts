/** The agents that a scenario describes, with all that they need. */
import * as Factories from "@kintsugi/core/Factories"
import {
  Agent,
  Approval,
  Budget,
  Compaction,
  LlmError,
  Message,
  Model,
  Recovery,
  Skill,
  Tool,
  ToolPolicy,
  Usage
} from "@kintsugi/core"
import { FailureScript, type FaultSweep, ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Data, Duration, Effect, Option, Schema, Stream } from "effect"
import type {
  AgentData,
  Approving,
  LineData,
  ModelFailure,
  ModelRow,
  Row,
  Scenario,
  Tag,
  ToolData
} from "./scenario.ts"

/** A failure of a tool. */
export class Failed extends Data.Error<{ readonly _tag: Tag; readonly retryAfter?: Duration.Duration }> {}

/** An agent of which nothing is known. */
type AnyAgent = Agent.Agent<string, unknown, unknown, unknown, never>

/** Builders have types for what is known where they are called; what is drawn at random is known to be right, and no more. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
const untyped = <A>(value: A): any => value

type Played = Parameters<typeof FaultSweep.play<string, unknown, unknown, never, Approval.Approver>>

export interface Built {
  readonly agent: Played[0]
  readonly scenario: Played[1]
  readonly around: (model: Model.Service) => Model.Service
}

/** Built anew for each run: scripts count how often they were asked. */
export const build = (of: Scenario): Built => {
  const agents = [of.agent, of.other].flatMap((data) => [data, ...(data.child === undefined ? [] : [data.child])])
  const lines = agents.map((data) => [data.name, data.lines.map(stepOf(usages()))] as const)
  return {
    agent: shaped(of.shape, agentOf(of.agent), agentOf(of.other)),
    scenario: {
      input: "Go.",
      script: {
        ...Object.fromEntries(lines),
        mender: [ScriptedModel.text('{"n": 1}')],
        summariser: [ScriptedModel.text("Much was said.")]
      },
      layer: Approval.layer(deciding(of.approving)),
      mayRunTwice: agents.flatMap((data) => data.tools.map(({ name }) => name).filter((name) => repeats(data, name)))
    },
    around: around(of.models)
  }
}

const shaped = (shape: Scenario["shape"], agent: AnyAgent, other: AnyAgent): Built["agent"] => {
  const twice = { acknowledge: "may run twice" } as const
  switch (shape) {
    case "alone":
      return untyped(agent)
    case "andThen":
      return untyped(Agent.andThen(untyped(Agent.map(untyped(agent), String)), untyped(other)))
    case "parallel":
      return untyped(Agent.parallel({ one: untyped(agent), two: untyped(other) }))
    case "firstOf":
      return untyped(Agent.firstOf(untyped(agent), untyped(other), twice))
    case "speculative":
      return untyped(Agent.speculative(untyped(agent), 2, { hedgeAfter: "1 second", ...twice }))
    case "fallback":
      return untyped(Agent.fallback(untyped(agent), untyped(other), { when: () => true, ...twice }))
    case "loopUntil":
      return untyped(
        Agent.loopUntil(untyped(agent), (_: unknown, iteration: number) => iteration > 1, {
          maxIterations: 3,
          feedback: (output: unknown) => `Not ${String(output)}.`
        })
      )
  }
}

const agentOf = (data: AgentData): AnyAgent => {
  let extensions = 0
  const children = data.child === undefined ? [] : [Agent.asTool(untyped(agentOf(data.child)), askOptions)]
  const made = Agent.make(data.name, {
    prompt: "Work.",
    budget: data.limits,
    siblings: data.siblings,
    skills: [Skill.make("work", { description: "d", tools: untyped([...data.tools.map(toolOf), ...children]) })],
    ...(data.wantsNumber ? { output: untyped(Schema.Int) } : {})
  })
  const agent = untyped(made).pipe(
    Agent.toolDefaults(untyped(tableOf(data.defaults))),
    Agent.onLlmError(untyped(tableOfModels(data.models)), { onPartial: data.onPartial }),
    Agent.toolPolicy(({ tool }) => (tool === data.denied ? ToolPolicy.deny("not this one") : ToolPolicy.allow)),
    Agent.onBudgetExceeded(({ limit }) => {
      if (data.onBudget !== "extend") return Budget[data.onBudget]
      return extensions++ < 3 ? Budget.extend(limit * 2) : Budget.stop
    })
  )
  const { listens } = data
  return listens === undefined ? agent : agent.pipe(Agent.onEvent(() => Effect.sleep(listens)))
}

const askOptions = { name: "ask", description: "d" } as const

const toolOf = ({ callTimeout, name, needsApproval, rows, script, sideEffects, timeout, verify }: ToolData) => {
  const tool = Tool.make(
    name,
    untyped({
      description: "d",
      parameters: Schema.Struct({ n: Schema.Finite }),
      success: Schema.String,
      ...(sideEffects === "undeclared" ? {} : { sideEffects }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(callTimeout === undefined ? {} : { callTimeout }),
      ...(verify === undefined ? {} : { verify: () => found[verify] }),
      run: (_: unknown, { attempt }: Tool.ToolContext) => doing(FailureScript.stepOf(script, attempt))
    })
  )
  const guarded = tool.pipe(Tool.onError(untyped(tableOf(rows, sideEffects))))
  return needsApproval ? guarded.pipe(untyped(Tool.requireApproval())) : guarded
}

const found = {
  "took effect": Effect.succeedSome("fine, by then"),
  "took none": Effect.succeed(Option.none()),
  fails: Effect.fail(new Failed({ _tag: "Gone" }))
}

const doing = (step: FailureScript.FailureScript<Tag>["rest"]): Effect.Effect<string, Failed> =>
  Effect.andThen(
    step.takes > 0 ? Effect.sleep(step.takes) : Effect.void,
    Effect.suspend((): Effect.Effect<string, Failed> => {
      switch (step.does) {
        case "succeed":
          return Effect.succeed(step.value)
        case "fail": {
          const hint = step.hint === undefined ? {} : { retryAfter: Duration.millis(step.hint) }
          return Effect.fail(new Failed({ _tag: step.tag, ...hint }))
        }
        case "fail and die":
          return Effect.failCause(Cause.combine(Cause.fail(new Failed({ _tag: step.tag })), Cause.die("scripted")))
        case "never":
          return Effect.never
        case "interrupt":
          return Effect.interrupt
        case "fail and interrupt":
          return Effect.failCause(Cause.combine(Cause.fail(new Failed({ _tag: step.tag })), Cause.interrupt()))
        case "die":
          return Effect.die("scripted")
      }
    })
  )

const tableOf = (rows: Readonly<Record<string, Row | undefined>>, sideEffects?: ToolData["sideEffects"]) =>
  Object.fromEntries(
    Object.entries(rows).map(([tag, row = { kind: "tell" }]) => [tag, verdictOf(row, sideEffects === "unsafe")])
  )

/** Repeating what is unsafe is consented to; see `repeats`. */
const verdictOf = (row: Row, isUnsafe: boolean): Recovery.AnyVerdict => {
  const twice = isUnsafe ? { acknowledge: "may run twice" } : {}
  switch (row.kind) {
    case "retry":
      return Recovery.retry({ retries: row.retries, initialBackoff: row.wait, ...twice })
    case "fix":
      return Recovery.fix(row.by === "agent" ? mender : () => Effect.succeed('{"n": 1}'), { as: row.as, ...twice })
    case "ladder":
      return untyped(Recovery.ladder)(...row.rungs.map((rung) => verdictOf(rung, isUnsafe)))
    case "answer":
      return Recovery.respondWith("answered")
    case "tools-off":
      return Recovery.tell(undefined, { then: "tools-off" })
    case "tell":
      return Recovery.tell()
    case "escalate":
      return Recovery.escalate()
    case "raise":
      return Recovery.raise
    case "rethrow":
      return Recovery.rethrow
  }
}

const mender = Agent.make("mender", { prompt: "Mend." })
const summariser = Agent.make("summariser", { prompt: "Sum up." })

/** Whether some row may run a tool again. */
const repeats = ({ tools }: AgentData, name: string): boolean => {
  const mayRepeat = (row: Row): boolean =>
    row.kind === "retry" || row.kind === "fix" || (row.kind === "ladder" && row.rungs.some(mayRepeat))
  return tools.some((tool) => tool.name === name && Object.values(tool.rows).some(mayRepeat))
}

const tableOfModels = (rows: Readonly<Record<string, ModelRow | undefined>>) =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([tag, row]) => (row === undefined ? [] : [[tag, verdictOfModel(row)]]))
  )

const verdictOfModel = (row: ModelRow): Recovery.AnyVerdict => {
  if (row.kind === "retry") return Recovery.retry({ retries: row.retries, initialBackoff: row.wait })
  switch (row.by) {
    case "dropOldest":
      return Recovery.compact(Compaction.dropOldest({ keepLast: 1 }))
    case "shrinkLargestResult":
      return Recovery.compact(Compaction.shrinkLargestResult({ maxLength: 3 }))
    case "summarise":
      return Recovery.compact(Compaction.summarise(summariser, { keepLast: 1 }))
  }
}

const deciding = (approving: Approving): Approval.Approver["Service"]["decide"] => {
  switch (approving) {
    case "approve":
      return () => Effect.as(Effect.sleep("1 second"), Approval.approve)
    case "refuse":
      return () => Effect.succeed(Approval.refuse("no"))
    case "change":
      return () => Effect.succeed(Approval.approveWith({ n: 9 }))
    case "never":
      return () => Effect.never
  }
}

const failures: Readonly<Record<ModelFailure, () => LlmError.LlmError>> = {
  overloaded: () => LlmError.ModelOverloadedError.make({ model: "scripted" }),
  limited: () => Factories.apiRateLimit("scripted", "2 seconds"),
  "too long": () => LlmError.ContextTooLongError.make({ model: "scripted", limit: 100, actual: 200 }),
  lost: () => Factories.connectionRefused("127.0.0.1", 80),
  unauthorised: () => LlmError.AuthenticationError.make({ model: "scripted", detail: "no key" }),
  server: () => LlmError.ServerError.make({ model: "scripted" })
}

/** Each reply has another usage, so that no sum is that of other replies. */
const usages = () => {
  let replies = 0
  return () => Usage.make({ inputTokens: 2 ** (replies++ % 20), outputTokens: 1 })
}

const stepOf =
  (next: () => Usage.Usage) =>
  (line: LineData): ScriptedModel.ScriptedStep => {
    let asked = 0
    const content = [
      ...(line.text === "" ? [] : [Message.text(line.text)]),
      ...line.calls.map((call) => ScriptedModel.call(call.tool, call.arguments, call.id))
    ]
    return {
      parts: line.partial === "" ? [] : [{ type: "text-delta", text: line.partial }],
      isCutOff: false,
      answer: () =>
        Effect.andThen(
          line.takes > 0 ? Effect.sleep(line.takes) : Effect.void,
          Effect.suspend(() => {
            const failure = line.failures[asked++]
            return failure === undefined
              ? Effect.succeed(ScriptedModel.reply({ content, finish: line.finish, usage: next() }))
              : Effect.fail(failures[failure]())
          })
        )
    }
  }

/** Models that fail for good stand in front of the one that answers. */
const around =
  ({ before, failing }: Scenario["models"]) =>
  (model: Model.Service): Model.Service => {
    if (before === 0) return model
    const broken = Array.from({ length: before }, (_, index) => brokenModel(`broken-${index}`, failing))
    const [first = model, ...others] = [...broken, model]
    return Model.fallback(first, ...others)
  }

const brokenModel = (name: string, failing: ModelFailure): Model.Service => ({
  name,
  provider: "scripted",
  generate: () => Effect.suspend(() => Effect.fail(failures[failing]())),
  stream: () => Stream.suspend(() => Stream.fail(failures[failing]()))
})
