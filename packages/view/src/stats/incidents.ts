/**
 * The incidents of recordings. The verdicts about one request, call or answer, from its first failure to its end, are one incident for
 * each tag.
 *
 * An incident of a transport or a model table is healed when the model answers; an incident of a call, when the call ends with a result.
 * After a tell, the model heals it by another call of the same tool with a result, in the same run. The last verdict on a tag has the
 * credit, unless it gave up: then the failure was lost, even if the run goes on without it. An incident that is unresolved at a bad end
 * of its run, or at the end of the events, is not healed.
 *
 * @internal
 */
import { fieldOf, flagAt, numberAt, textAt } from "../recording/Fields.ts"
import type { Recorded } from "../recording/Recorded.ts"

/** One kind of failure of one request, call or answer, and its end. */
export interface Incident {
  /** `transport`, `model`, `tool` or `effect`; `output` for an answer that did not fit its schema. */
  readonly layer: string
  readonly tag: string
  /** The tool that failed; absent where none did. */
  readonly tool: string | undefined
  /** Attempts that failed with this tag. */
  readonly failures: number
  /** The kind of the last verdict; `output-retry` for an answer that did not fit. */
  readonly verdict: string
  /** Whether the rung of that verdict gave up. */
  readonly gaveUp: boolean
  /** Whether the model was told, and called again. */
  readonly byModel: boolean
  readonly isHealed: boolean
}

/** A call with at least one failure. */
export interface Trouble {
  readonly tool: string
  readonly isHealed: boolean
}

/** The incidents of a recording. */
export interface Found {
  readonly incidents: ReadonlyArray<Incident>
  readonly troubles: ReadonlyArray<Trouble>
}

/** An incident without an end yet. */
interface Unresolved {
  readonly layer: string
  readonly tag: string
  readonly tool: string | undefined
  readonly attempts: Set<number>
  verdict: string
  gaveUp: boolean
}

/** A call with failures. */
interface FailedCall {
  readonly tool: string
  readonly incidents: ReadonlyArray<Unresolved>
}

/** The unresolved incidents of one run. */
interface Run {
  /** Incidents of model calls, by layer and tag. */
  readonly byModelCall: Map<string, Unresolved>
  /** Incidents of tool calls, by call, then by layer and tag. */
  readonly calls: Map<string, Map<string, Unresolved>>
  /** Calls that have failed, verdict or not. */
  readonly failed: Map<string, string>
  /** Calls whose failure was told to the model, by tool. */
  readonly failedByTool: Map<string, Array<FailedCall>>
  /** Incidents without a call: of recovery around an effect, and of answers that did not fit. */
  readonly rest: Map<string, Unresolved>
}

/** The incidents in these events, in order. */
export const find = (events: Iterable<Recorded>): Found => {
  const runs = new Map<string, Run>()
  const incidents: Array<Incident> = []
  const troubles: Array<Trouble> = []

  const close = (unresolved: Iterable<Unresolved>, isHealed: boolean, byModel = false) => {
    for (const { attempts, gaveUp, layer, tag, tool, verdict } of unresolved)
      incidents.push({
        layer,
        tag,
        tool,
        failures: attempts.size,
        verdict,
        gaveUp,
        byModel,
        isHealed: isHealed && (byModel || !(gaveUp || surrenders.has(verdict)))
      })
  }
  const closeCalls = (all: Iterable<FailedCall>, isHealed: boolean) => {
    for (const { incidents, tool } of all) {
      close(incidents, isHealed, isHealed)
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
        // the layers around the transport decide about what it could not heal
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

/** Verdicts after which nothing more is tried for the failure itself; the model may still be told of it. */
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
  // one failure climbs several rungs: the attempt tells that it is the same one
  unresolved.attempts.add(attempt)
  group.set(key, unresolved)
}
