/**
 * A chat in the terminal. Ctrl-C stops the answer; without an answer, or at the end of the input, the chat is over. A failure
 * is shown, and the conversation goes on from its transcript: see `chat/main.ts` for an agent and a real terminal.
 */
import type { Agent, AgentEvent, Message } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { Effect, Stream, Terminal } from "effect"

/** Of an answer: its words as they come, its tools, and how it ended if not well. */
const shown = (event: AgentEvent.AgentEvent): string => {
  if (event.parent !== undefined) return ""
  if (event.type === "text-delta") return event.text
  if (event.type === "tool-start") return `\n[${event.tool} ${JSON.stringify(event.arguments)}]\n`
  if (event.type === "attempt-discarded") return "\n[once more]\n"
  if (event.type === "run-failed") return `\n[failed: ${ErrorCause.messageOf(event.error)}]`
  return event.type === "run-interrupted" || event.type === "run-suspended" ? `\n[${event.type}]` : ""
}

/** Without what would move the cursor, or came from other keys than letters. */
const plain = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, "")

export const chat = <R>(agent: Pick<Agent.Agent<Agent.Resumption<string>, unknown, unknown, R>, "start">) =>
  Effect.gen(function* () {
    const { display, readInput, readLine } = yield* Terminal.Terminal
    const answer = Effect.fnUntraced(function* (from: Message.Transcript, input: string) {
      const keys = yield* readInput
      const run = yield* agent.start({ from, input })
      const hear = ({ key }: Terminal.UserInput) => (key.ctrl && key.name === "c" ? run.interrupt : Effect.void)
      yield* Effect.forkScoped(Stream.runForEach(Stream.fromQueue(keys), hear))
      yield* Stream.runForEach(run.events, (event) => display(plain(shown(event))))
      return yield* run.transcript
    }, Effect.scoped)
    let said: Message.Transcript = []
    while (true) {
      yield* display("\n> ")
      said = yield* answer(said, plain(yield* readLine))
    }
  }).pipe(Effect.catchTag("QuitError", () => Effect.void))
