/** Random agents and what goes wrong in their runs, as plain data: what a seed draws, and what is printed when it is needed. */
import type { Agent, Budget } from "@kintsugi/core"
import { FailureScript } from "@kintsugi/core/testing"
import { Draw } from "./Draw.ts"

export type SideEffects = "none" | "idempotent" | "unsafe" | "undeclared"

/** What a table does about a failure. Times are milliseconds. */
export type Row =
  | { readonly kind: "tell" | "answer" | "escalate" | "raise" | "rethrow" | "tools-off" }
  | { readonly kind: "retry"; readonly retries: number; readonly wait: number }
  /** By a function, or by the agent `mender`. */
  | { readonly kind: "fix"; readonly by: "function" | "agent"; readonly as: "arguments" | "result" }
  | { readonly kind: "ladder"; readonly rungs: ReadonlyArray<Row> }

export type Tag = "Busy" | "Gone"

export interface ToolData {
  readonly name: string
  readonly sideEffects: SideEffects
  readonly timeout?: number
  readonly callTimeout?: number
  /** What is said when a run was cut off. */
  readonly verify?: "took effect" | "took none" | "fails"
  readonly needsApproval: boolean
  /** What its n-th attempt of a call does. */
  readonly script: FailureScript.FailureScript<Tag>
  readonly rows: { readonly [K in Tag | "InvalidArgs" | "orElse"]?: Row }
}

export type ModelRow =
  | { readonly kind: "retry"; readonly retries: number; readonly wait: number }
  | { readonly kind: "compact"; readonly by: "dropOldest" | "shrinkLargestResult" | "summarise" }

export type ModelFailure = "overloaded" | "limited" | "too long" | "lost" | "unauthorised" | "server"

export interface CallData {
  readonly id: string
  readonly tool: string
  readonly arguments: string | { readonly n: number | string }
}

/** What the model says in one turn, after some failures. Each attempt takes a while. */
export interface LineData {
  readonly text?: string
  readonly calls: ReadonlyArray<CallData>
  readonly failures: ReadonlyArray<ModelFailure>
  /** Said by a streamed attempt before it fails. */
  readonly before: string
  readonly takes: number
}

export interface AgentData {
  readonly name: string
  readonly tools: ReadonlyArray<ToolData>
  /** An agent that is a tool of this one, called `ask`. */
  readonly child?: AgentData
  readonly lines: ReadonlyArray<LineData>
  readonly limits: Budget.Limits
  readonly siblings: NonNullable<Parameters<typeof Agent.make>[1]["siblings"]>
  readonly defaults: { readonly [K in "InvalidArgs" | "UnknownToolError" | "orElse"]?: Row }
  readonly models: { readonly ContextTooLongError?: ModelRow; readonly orElse?: ModelRow }
  readonly onPartial: "fail" | "restart"
  /** A tool that its policy denies. */
  readonly denied?: string
  readonly onBudget: "stop" | "extend" | "checkpoint" | "answer"
  /** How long its listener takes for each event. */
  readonly listens?: number
  readonly wantsNumber: boolean
}

export type Approving = "approve" | "refuse" | "change" | "never"

export type Shape = "alone" | "andThen" | "parallel" | "firstOf" | "speculative" | "fallback" | "loopUntil"

export interface FaultData {
  readonly mode: "whole" | "streamed"
  /** Which of the steps of that run without a fault: from 0 for the first up to 1. */
  readonly at: number
  /** What goes wrong there, or what is nearest to it of all that can. */
  readonly kind: "error" | "defect" | "latency" | "before" | "within" | "after"
}

export interface Scenario {
  readonly seed: number
  readonly agent: AgentData
  readonly other: AgentData
  readonly shape: Shape
  readonly approving: Approving
  /** How many models are asked in turn, and how often each but the last one fails for good. */
  readonly models: { readonly before: number; readonly failing: ModelFailure }
  readonly faults: ReadonlyArray<FaultData>
}

/** What a seed draws. */
export const scenarioOf = (seed: number, faults = 6): Scenario => {
  const draw = new Draw(seed)
  const agent = drawAgent(draw, "worker", 1)
  return {
    seed,
    agent,
    other: drawAgent(draw, "other", 0),
    shape: draw.chance(0.5)
      ? "alone"
      : draw.pick("andThen", "parallel", "firstOf", "speculative", "fallback", "loopUntil"),
    approving: draw.pick("approve", "approve", "refuse", "change", "never"),
    models: { before: draw.pick(0, 0, 0, 1, 2), failing: draw.pick("overloaded", "lost", "limited") },
    faults: draw.times(faults, () => ({
      mode: draw.pick("whole", "streamed"),
      at: draw.fraction(),
      kind: draw.pick("error", "error", "defect", "latency", "before", "within", "after")
    }))
  }
}

const drawAgent = (draw: Draw, name: string, deep: number): AgentData => {
  const tools = draw.times(draw.int(1, 4), (index) => drawTool(draw, `${name}-${index}`))
  const child = draw.maybe(deep > 0 ? 0.4 : 0, () => drawAgent(draw, `${name}-below`, deep - 1))
  const names = [...tools.map((tool) => tool.name), ...(child === undefined ? [] : ["ask"])]
  const turns = draw.int(0, 4)
  return {
    name,
    tools,
    ...(child === undefined ? {} : { child }),
    lines: draw.times(turns + 1, (turn) => drawLine(draw, turn, turn === turns, names, name)),
    limits: drawLimits(draw),
    siblings: draw.pick("settleAll", "interrupt"),
    defaults: {
      ...(draw.chance(0.7) ? { InvalidArgs: drawRow(draw, "repairs", 1) } : {}),
      ...(draw.chance(0.8) ? { UnknownToolError: { kind: draw.pick("tell", "tell", "raise") } } : {}),
      ...(draw.chance(0.9) ? { orElse: { kind: draw.pick("tell", "tell", "tell", "escalate", "raise") } } : {})
    },
    models: {
      ...(draw.chance(0.7)
        ? {
            ContextTooLongError: {
              kind: "compact",
              by: draw.pick("dropOldest", "shrinkLargestResult", "summarise")
            } as const
          }
        : {}),
      ...(draw.chance(0.8)
        ? { orElse: { kind: "retry", retries: draw.int(1, 3), wait: draw.pick(0, 100, 5000) } as const }
        : {})
    },
    onPartial: draw.pick("fail", "restart"),
    ...(draw.chance(0.15) && tools[0] !== undefined ? { denied: tools[0].name } : {}),
    onBudget: draw.pick("stop", "answer", "extend", "checkpoint"),
    ...(draw.chance(0.2) ? { listens: draw.pick(0, 10, 3000) } : {}),
    wantsNumber: draw.chance(0.15)
  }
}

const drawTool = (draw: Draw, name: string): ToolData => {
  const sideEffects = draw.pick<SideEffects>("none", "idempotent", "unsafe", "undeclared")
  const timeout = draw.maybe(0.4, () => draw.pick(50, 1000, 20_000))
  const callTimeout = draw.maybe(0.25, () => draw.pick(200, 5000, 60_000))
  const verify = draw.maybe(sideEffects === "unsafe" ? 0.6 : 0.1, () =>
    draw.pick<"took effect" | "took none" | "fails">("took effect", "took none", "fails")
  )
  const row = () => drawRow(draw, "failure", 2)
  return {
    name,
    sideEffects,
    ...(timeout === undefined ? {} : { timeout }),
    ...(callTimeout === undefined ? {} : { callTimeout }),
    ...(verify === undefined ? {} : { verify }),
    needsApproval: draw.chance(0.2),
    script: FailureScript.make(
      draw.times(draw.pick(0, 1, 1, 2, 3), () => drawStep(draw)),
      FailureScript.succeeds("fine, and some more words", draw.pick(0, 0, 10, 3000))
    ),
    rows: {
      ...(draw.chance(0.8) ? { Busy: row() } : {}),
      ...(draw.chance(0.5) ? { Gone: row() } : {}),
      ...(draw.chance(0.3) ? { InvalidArgs: drawRow(draw, "repairs", 1) } : {}),
      ...(draw.chance(0.3) ? { orElse: row() } : {})
    }
  }
}

const drawStep = (draw: Draw): FailureScript.FailureScript<Tag>["rest"] => {
  const takes = draw.pick(0, 0, 10, 3000)
  const tag = draw.pick<Tag>("Busy", "Busy", "Gone")
  switch (draw.pick("fail", "fail", "fail", "fail", "fail", "fail", "fail", "die", "never", "both")) {
    case "fail":
      return draw.chance(0.2)
        ? FailureScript.fails(tag, { takes, hint: draw.pick(10, 2000) })
        : FailureScript.fails(tag, { takes })
    case "die":
      return { ...FailureScript.dies, takes }
    case "both":
      return { does: "fail and die", tag, takes }
    default:
      return FailureScript.never
  }
}

const drawRow = (draw: Draw, of: "failure" | "repairs", deep: number): Row => {
  const kinds = ["tell", "tell", "answer", "escalate", "raise", "rethrow", "tools-off", "fix", "fix", "retry"] as const
  const kind =
    of === "failure" && draw.chance(0.4) ? "retry" : deep > 0 && draw.chance(0.4) ? "ladder" : draw.pick(...kinds)
  if (kind === "ladder") return { kind, rungs: draw.times(draw.int(1, 3), () => drawRow(draw, of, deep - 1)) }
  if (kind === "fix") return { kind, by: draw.pick("function", "agent"), as: draw.pick("arguments", "result") }
  // arguments that do not fit never will
  if (kind === "retry" && of === "repairs") return { kind: "tell" }
  if (kind === "retry") return { kind, retries: draw.int(1, 3), wait: draw.pick(0, 100, 2000) }
  return { kind }
}

const drawLine = (draw: Draw, turn: number, isLast: boolean, names: ReadonlyArray<string>, name: string): LineData => {
  const isCalling = !isLast
  const at = `${name}-${turn}`
  const [first = "nothing", ...others] = names
  const isSame = draw.chance(0.03)
  const calls = isCalling
    ? draw.times(draw.int(1, 4), (index) => ({
        id: isSame ? `${at}-same` : `${at}-${index}`,
        tool: draw.chance(0.03) ? "nothing" : draw.pick(first, ...others),
        arguments: draw.pick<CallData["arguments"]>(
          { n: 1 },
          { n: 2 },
          { n: 3 },
          { n: 4 },
          { n: 5 },
          { n: 6 },
          { n: "4" },
          '{"n": 5,}',
          { n: "five" },
          "{"
        )
      }))
    : []
  const text = isCalling ? draw.maybe(0.3, () => "Let me see.") : draw.pick("All is done.", "7", "7")
  return {
    ...(text === undefined ? {} : { text }),
    calls: calls.map((call) => (call.tool === "ask" ? { ...call, arguments: '{"input":"What is it?"}' } : call)),
    failures: draw.chance(turn === 0 ? 0.15 : 0.35)
      ? draw.times(draw.int(1, 2), () =>
          turn > 0 && draw.chance(0.5)
            ? "too long"
            : draw.pick("overloaded", "overloaded", "limited", "too long", "lost", "server", "server", "unauthorised")
        )
      : [],
    before: draw.pick("", "Hm, "),
    takes: draw.pick(0, 5, 5, 2000)
  }
}

const drawLimits = (draw: Draw): Budget.Limits => ({
  ...(draw.chance(0.2) ? { maxTurns: draw.int(1, 5) } : {}),
  ...(draw.chance(0.2) ? { maxToolCalls: draw.int(1, 6) } : {}),
  ...(draw.chance(0.1) ? { maxTokens: draw.int(5, 200) } : {}),
  ...(draw.chance(0.15) ? { maxDuration: draw.pick(5, 1000, 30_000) } : {}),
  ...(draw.chance(0.2) ? { toolConcurrency: draw.int(1, 2) } : {}),
  ...(draw.chance(0.1) ? { maxConsecutiveSameTool: draw.int(1, 3) } : {}),
  ...(draw.chance(0.1) ? { repeatedFailures: { hint: 1, withhold: 2, stop: 3 } } : {}),
  ...(draw.chance(0.3) ? { warnAt: 0.5 } : {})
})
