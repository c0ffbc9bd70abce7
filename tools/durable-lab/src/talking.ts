/** Kills the runner of a conversation in the middle of its unsafe tool, and looks what comes of its messages. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Message } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Layer } from "effect"
import { root } from "../../../scripts/files.ts"
import { folder as lab } from "./folder.ts"
import { freePort, startPostgres } from "./postgres.ts"
import { engineOn } from "./processes/cluster.ts"
import { talksIn } from "./talk.ts"

/** A runner in a process of its own. */
export const startTalker = async (database: number, ledger: string, how: "hang" | "go" | "time") => {
  const script = join(root, lab, "src/processes/talker.ts")
  const child = spawn(process.execPath, ["--expose-gc", script, `${database}`, `${await freePort()}`, ledger, how], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  /** Waits until it says this, and returns what it says about it. */
  const says = async (what: "ready" | "atWork" | "heap"): Promise<unknown> => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`the runner has ended before it was ${what}`)
      // what is logged is no JSON
      if (value.startsWith(`{"${what}"`)) return JSON.parse(value)[what]
    }
  }
  const end = (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal)
    return gone
  }
  /** The bytes on its heap. */
  const heap = async (): Promise<number> => {
    child.kill("SIGUSR2")
    return Number(await says("heap"))
  }
  return { says, end, heap }
}

/** What has come of the messages. */
export interface Talked {
  readonly answers: ReadonlyArray<string>
  /** The states of the messages when they are sent a second time. */
  readonly resent: ReadonlyArray<string>
  /** What the conversation has, without calls and results of tools. */
  readonly said: ReadonlyArray<string>
  /** What the tool has done. */
  readonly paid: ReadonlyArray<string>
}

const of = { conversation: "c-1", subject: "ann" }

const messages = ["pay rent", "and then", "pay tax"].map((message, nth) => ({ ...of, id: `${nth}`, message }))

/** Two runners are killed with SIGKILL, each in the middle of the unsafe tool, and the third one answers what there is to answer. */
export const talk = async (postgres: string): Promise<Talked> => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-talk-"))
  const ledger = join(folder, "ledger")
  const database = await startPostgres(postgres)
  const runners: Array<Awaited<ReturnType<typeof startTalker>>> = []
  const start = async (how: "hang" | "go") => {
    const runner = await startTalker(database.port, ledger, how)
    runners.push(runner)
    await runner.says("ready")
    return runner
  }
  const talks = talksIn(ledger)
  const client = Layer.provideMerge(Conversations.layerSql(), engineOn(database.port))
  try {
    const first = await start("hang")
    return await Effect.gen(function* () {
      for (const message of messages) yield* ConversationEntity.send(talks, message)
      yield* Effect.promise(() => first.says("atWork"))
      yield* Effect.promise(() => first.end("SIGKILL"))
      const second = yield* Effect.promise(() => start("hang"))
      yield* Effect.promise(() => second.says("atWork"))
      yield* Effect.promise(() => second.end("SIGKILL"))
      yield* Effect.promise(() => start("go"))
      const answers = yield* Effect.forEach(messages, (message) => ConversationEntity.answer(talks, message))
      const resent = yield* Effect.forEach(messages, (message) => ConversationEntity.send(talks, message))
      const store = yield* Conversations.Conversations
      const conversation = yield* store.load(of)
      const said = conversation.messages.flatMap((message) =>
        message.role === "user" || message.role === "assistant"
          ? [Message.textOf(message)].filter((text) => text !== "")
          : []
      )
      const paid = readFileSync(ledger, "utf8").trimEnd().split("\n")
      return {
        answers,
        resent: resent.map(({ _tag }) => _tag),
        said,
        paid: paid.map((line) => line.slice(0, line.lastIndexOf(" ")))
      }
    }).pipe(Effect.provide(client), Effect.runPromise)
  } finally {
    await Promise.all(runners.map(({ end }) => end("SIGKILL")))
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What has to come of them. */
export const expected: Talked = {
  answers: messages.map(({ message }) => `answer to ${message}`),
  resent: messages.map(() => "Ended"),
  said: messages.flatMap(({ message }) => [message, `answer to ${message}`]),
  paid: ["pay rent", "pay tax"]
}
