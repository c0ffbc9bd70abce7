/** The demo: lets the agent count in each scene, and shows the events and the answer. */
import { Agent, type AgentEvent, type Message } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { EventLog } from "@kintsugi/view"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import type { Readable } from "node:stream"
import { analyst } from "./agents.ts"
import type { Settings } from "./cli.ts"
import * as Endpoint from "./endpoint.ts"
import * as Input from "./input.ts"
import * as Report from "./report.ts"
import { type Scene, story } from "./scenes.ts"
import { isObject, parse } from "./standIn/Json.ts"
import { clip, describeError, plain } from "./text.ts"
import * as Timeline from "./timeline.ts"

/** The process around the program. */
export interface Terminal {
  /** Relative paths start here. */
  readonly folder: string
  readonly stdin: Readable
  readonly write: (text: string) => void
  readonly complain: (text: string) => void
  readonly isColored: boolean
  /** Columns; `undefined` for a file or a pipe. */
  readonly width: number | undefined
}

/** The model answered, but not with a number. */
class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { message: Schema.String }) {}

/** Ends with an exit code in any case, unless it is interrupted. */
export const run = (settings: Settings, terminal: Terminal): Effect.Effect<number> => {
  const complain = (text: string): number => {
    terminal.complain(`error: ${clip(text, 1000)}\n`)
    return 1
  }
  const report = Report.make()
  return Effect.scoped(play(settings, terminal, report)).pipe(
    Effect.as(0),
    Effect.catch((error) => Effect.sync(() => complain(ErrorCause.summarise(error).message))),
    Effect.catchDefect((defect) => Effect.sync(() => complain(`unexpected: ${describeError(defect)}`))),
    // also of a run that has failed, or was interrupted
    Effect.ensuring(Effect.map(report.close, terminal.write))
  )
}

const play = Effect.fnUntraced(function* (settings: Settings, terminal: Terminal, report: Report.Report) {
  const { events, input, isStory, isStreamed, model } = settings
  const scenes: ReadonlyArray<Scene> = isStory ? story : [{ model }]
  // a missing key is known before anything begins
  const endpoints = yield* Effect.forEach(scenes, (scene) => Layer.build(Endpoint.layer(scene.model)))
  const log = events === undefined ? Context.empty() : yield* logTo(resolve(terminal.folder, events))
  const text = yield* Input.read(input, terminal.folder, terminal.stdin)
  for (const [index, endpoint] of endpoints.entries()) {
    const { request = `How many keys? ${text}`, title } = scenes[index] ?? {}
    const display = yield* show(terminal)
    if (index === 0) terminal.write(display.header)
    if (title !== undefined) terminal.write(display.title(title))
    const listening = analyst.pipe(Agent.onToolUse(display.use), Agent.onEvent(report.write))
    const counting = isStreamed
      ? foldEvents(listening.stream(request), display.draw)
      : listening.pipe(Agent.onEvent(display.draw))(request)
    const answer = yield* Effect.provideContext(counting, Context.merge(endpoint, log))
    if (!/\d/.test(answer)) return yield* new NoAnswer({ message: `the model gave no number: ${clip(answer)}` })
    terminal.write(`answer: ${plain(answer.trim())}\n`)
  }
})

/** Empties a file, and writes all events to it. */
const logTo = (path: string) =>
  Effect.andThen(
    Effect.try({
      try: () => writeFileSync(path, ""),
      catch: (error) =>
        new EventLog.EventFileError({
          path,
          message: `cannot write '${path}': ${ErrorCause.messageOf(error)}`,
          cause: error
        })
    }),
    Layer.build(EventLog.toFile(path))
  )

/** Shows every event of a streamed run, and gives its output. */
const foldEvents = <E, R>(
  events: Stream.Stream<AgentEvent.AgentEvent, E, R>,
  see: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
): Effect.Effect<string, E, R> =>
  Stream.runFold(
    Stream.tap(events, see),
    () => "",
    (output, event) => (event.type === "run-completed" && event.parent === undefined ? String(event.output) : output)
  )

/** Writes the timeline. The tool hook runs beside the events: its line waits here for its turn. */
const show = Effect.fnUntraced(function* (terminal: Terminal) {
  const timeline = Timeline.make(terminal)
  const uses = yield* Queue.unbounded<string>()
  return {
    header: timeline.header,
    title: timeline.title,
    use: (name: string, args: Message.ToolCall["arguments"], result: Agent.ToolResult): Effect.Effect<void> =>
      Effect.asVoid(Queue.offer(uses, `${name}(${shown(result.params ?? args)}) = ${clip(result.text, 1000)}`)),
    draw: Effect.fnUntraced(function* (event: AgentEvent.AgentEvent) {
      terminal.write(timeline.draw(event))
      if (event.type !== "tool-end" || event.agent !== analyst.name) return
      terminal.write(timeline.line(yield* Queue.take(uses)))
    })
  }
})

/** The document of a call and what else is asked of it, as far as it fits on a line; other arguments as they are. */
const shown = (args: unknown): string => {
  const value = typeof args === "string" ? parse(args) : args
  if (!isObject(value) || typeof value.json !== "string") return clip(String(args), 60)
  const { json, ...others } = value
  return [clip(json, 60), ...Object.entries(others).map(([name, other]) => `${name} ${String(other)}`)].join(", ")
}
