/**
 * Finds the incidents of recordings. An incident is all verdicts on one error tag about one request, call or answer, from its first failure
 * to its end.
 *
 * An incident of the transport or of a model call is healed if the model answers. An incident of a tool call is healed if the call ends
 * with a result. After a tell, it is healed by a later call of the same tool with a result, in the same run. The last verdict on the tag
 * gets the credit, unless it gave up: then the failure was lost, even if the run goes on. An incident that is unresolved when its run ends
 * badly, or when the events end, is not healed.
 *
 * @internal
 */
import { fieldOf, flagAt, numberAt, textAt } from "./Fields.ts"
import type { Recorded } from "./Recorded.ts"

/** An incident with its end: the failures of one request, call or answer with one error tag. */
export interface Incident {
  /** The layer that failed: `transport`, `model`, `tool` or `effect`. It is `output` for an answer that did not fit its schema. */
  readonly layer: string
  readonly tag: string
  /** The name of the tool that failed; `undefined` if no tool failed. */
  readonly tool: string | undefined
  /** How many attempts failed with this tag. */
  readonly failures: number
  /** The kind of the last verdict. It is `output-retry` for an answer that did not fit. */
  readonly verdict: string
  /** Whether the rung of the last verdict gave up. */
  readonly gaveUp: boolean
  /** Whether the failure was told to the model, which was then called again. */
  readonly byModel: boolean
  readonly isHealed: boolean
  /** Whether the model has read about the failure as the result of its call. */
  readonly isTold: boolean
}

/** A tool call with at least one failure, and whether it was healed. */
export interface Trouble {
  readonly tool: string
  readonly isHealed: boolean
}

/** The incidents and the failed tool calls of a recording. */
export interface Found {
  readonly incidents: ReadonlyArray<Incident>
  readonly troubles: ReadonlyArray<Trouble>
}

/** An incident that has no end yet. */
interface Unresolved {
  readonly layer: string
  readonly tag: string
  readonly tool: string | undefined
  readonly attempts: Set<number>
  verdict: string
  gaveUp: boolean
}

/** A tool call whose failure was told to the model, with its incidents. */
interface FailedCall {
  readonly tool: string
  readonly incidents: ReadonlyArray<Unresolved>
}

/** The incidents of one run that have no end yet. */
interface Run {
  /** The incidents of the current model call, by layer and tag. */
  readonly byModelCall: Map<string, Unresolved>
  /** The incidents of tool calls, by call id, then by layer and tag. */
  readonly calls: Map<string, Map<string, Unresolved>>
  /** The names of the tools of failed calls, by call id. A call is here even if no verdict followed. */
  readonly failed: Map<string, string>
  /** The calls whose failure was told to the model, by the name of the tool. */
  readonly failedByTool: Map<string, Array<FailedCall>>
  /** The incidents without a call: of recovery around an effect, and of answers that did not fit. */
  readonly rest: Map<string, Unresolved>
}

/** Finds the incidents in these events, which are in order. */
export const find = (events: Iterable<Recorded>): Found => {
  const runs = new Map<string, Run>()
  const incidents: Array<Incident> = []
  const troubles: Array<Trouble> = []

  const close = (unresolved: Iterable<Unresolved>, isHealed: boolean, byModel = false, isTold = byModel) => {
    for (const { attempts, gaveUp, layer, tag, tool, verdict } of unresolved)
      incidents.push({
        layer,
        tag,
        tool,
        failures: attempts.size,
        verdict,
        gaveUp,
        byModel,
        isTold,
        isHealed: isHealed && (byModel || !(gaveUp || surrenders.has(verdict)))
      })
  }
  const closeCalls = (all: Iterable<FailedCall>, isHealed: boolean) => {
    for (const { incidents, tool } of all) {
      close(incidents, isHealed, isHealed, true)
      troubles.push({ tool, isHealed })
    }
  }
  const closeRun = (run: Run, isHealed: boolean) => {
    close(run.byModelCall.values(), isHealed)
    run.byModelCall.clear()
    close(run.rest.values(), isHealed)
    run.rest.clear()
    for (const unresolved of run.calls.values()) close(unresolved.values(), false)
    run.calls.clear()
    for (const tool of run.failed.values()) troubles.push({ tool, isHealed: false })
    run.failed.clear()
    for (const failedCalls of run.failedByTool.values()) closeCalls(failedCalls, false)
    run.failedByTool.clear()
  }
  const endCall = (run: Run, callId: string, tool: string, isResult: boolean) => {
    const unresolved = [...(run.calls.get(callId)?.values() ?? [])]
    run.calls.delete(callId)
    const isTrouble = run.failed.delete(callId) || unresolved.length > 0
    if (isResult) {
      close(unresolved, true)
      if (isTrouble) troubles.push({ tool, isHealed: true })
      closeCalls(run.failedByTool.get(tool) ?? [], true)
      run.failedByTool.delete(tool)
    } else run.failedByTool.set(tool, [...(run.failedByTool.get(tool) ?? []), { tool, incidents: unresolved }])
  }

  for (const event of events) {
    const run = runs.get(event.runId) ?? blank()
    runs.set(event.runId, run)
    const callId = textAt(event, "callId")
    const tool = textAt(event, "tool")
    switch (event.type) {
      case "verdict": {
        const layer = textAt(event, "layer") ?? "effect"
        note(groupOf(run, layer, callId), layer, callId === undefined ? undefined : tool, event)
        break
      }
      case "output-rejected": {
        const said = { verdict: "output-retry", gaveUp: fieldOf(event, "message") === undefined }
        const attempt = (run.rest.get("output")?.attempts.size ?? 0) + 1
        add(run.rest, "output", { layer: "output", tag: "InvalidOutputError", tool: undefined, ...said, attempt })
        break
      }
      case "model-end":
        close(run.byModelCall.values(), true)
        run.byModelCall.clear()
        break
      case "model-failed":
      case "model-interrupted":
        // failures of the transport are lost now; the layers around it decide about the failed call
        for (const [key, unresolved] of run.byModelCall) {
          if (unresolved.layer !== "transport") continue
          close([unresolved], false)
          run.byModelCall.delete(key)
        }
        break
      case "tool-failed":
        if (callId !== undefined && tool !== undefined) run.failed.set(callId, tool)
        break
      case "tool-end": {
        const kind = textAt(event, "use", "settlement", "kind")
        if (callId !== undefined && tool !== undefined)
          endCall(run, callId, tool, kind === "result" || kind === "deferred")
        break
      }
      case "run-completed":
        closeRun(run, true)
        break
      case "run-failed":
      case "run-interrupted":
        closeRun(run, false)
        break
    }
  }
  for (const run of runs.values()) closeRun(run, false)
  return { incidents, troubles }
}

/** The verdicts that give a failure up. The model may still be told of the failure. */
const surrenders: ReadonlySet<string> = new Set(["raise", "rethrow", "escalate"])

const blank = (): Run => ({
  byModelCall: new Map(),
  calls: new Map(),
  failed: new Map(),
  failedByTool: new Map(),
  rest: new Map()
})

const groupOf = (run: Run, layer: string, callId: string | undefined): Map<string, Unresolved> => {
  if (callId !== undefined) {
    const unresolved = run.calls.get(callId) ?? new Map<string, Unresolved>()
    run.calls.set(callId, unresolved)
    return unresolved
  }
  return layer === "transport" || layer === "model" ? run.byModelCall : run.rest
}

const note = (group: Map<string, Unresolved>, layer: string, tool: string | undefined, event: Recorded) => {
  const tag = textAt(event, "tag") ?? "unknown"
  const verdict = textAt(event, "verdict") ?? "unknown"
  const said = { verdict, gaveUp: flagAt(event, "gaveUp"), attempt: numberAt(event, "attempt") ?? 0 }
  add(group, `${layer} ${tag}`, { layer, tag, tool, ...said })
}

const add = (
  group: Map<string, Unresolved>,
  key: string,
  { attempt, ...said }: Omit<Unresolved, "attempts"> & { readonly attempt: number }
) => {
  const unresolved = group.get(key) ?? { ...said, attempts: new Set() }
  unresolved.verdict = said.verdict
  unresolved.gaveUp = said.gaveUp
  // several rungs may decide about one failure, so attempts are counted by their number
  unresolved.attempts.add(attempt)
  group.set(key, unresolved)
}
