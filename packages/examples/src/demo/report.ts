/** Keeps the events of a run, and makes a page of them at its end. The demo goes on without, where nothing can be written. */
import * as AgentEvent from "@kintsugi/core/AgentEvent"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { Page, Recording } from "@kintsugi/view"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Report {
  readonly write: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
  /** What is said last: where the report is, or why there is none; empty for a run that has not begun. */
  readonly close: Effect.Effect<string>
}

/** Each run has a folder of its own among the temporary files: runs at the same time do not meet, and the system tidies up. */
export const make = (): Report => {
  const taking = Recording.start()
  const lines: Array<string> = []
  return {
    write: (event) =>
      Effect.sync(() => {
        const line = encode(event)
        lines.push(line)
        taking.line(line)
      }),
    close: Effect.sync(() => {
      if (lines.length === 0) return ""
      try {
        const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-demo-"))
        const path = join(folder, "report.html")
        writeFileSync(join(folder, "events.jsonl"), lines.join(""))
        writeFileSync(path, Page.make(taking.recording(), { title: "The demo: an agent counts keys" }))
        return `report: ${path}\n`
      } catch (error) {
        return `no report: ${ErrorCause.messageOf(error)}\n`
      }
    })
  }
}

const toText = Schema.encodeSync(Schema.fromJsonString(AgentEvent.AgentEvent))

/** One event on one line, which `AgentEvent.AgentEvent` reads back. */
export const encode = (event: AgentEvent.AgentEvent): string => `${toText(event)}\n`
