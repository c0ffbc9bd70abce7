/** Begins the runs on PGlite in a folder, and prints a line when all of them wait. Then it waits to be killed. */
import { Durable, RunQueue } from "@kintsugi/durable"
import { Effect } from "effect"
import process from "node:process"
import { inputs, made, queued, served } from "./runs.ts"

const workflows = made(true)
const { durable, packing, ran } = workflows
const [, , folder = ""] = process.argv
/** The calls after which all runs wait. */
const last = 8

const main = Effect.gen(function* () {
  for (const input of inputs) yield* Durable.start(durable, { id: input, input })
  for (const input of queued) yield* RunQueue.put(packing, { id: input, input })
  while (ran.length < last) yield* Effect.sleep("100 millis")
  // what the last call gave is stored a moment later
  yield* Effect.sleep("3 seconds")
  yield* Effect.sync(() => process.stdout.write(`${ran.join(" ")}\n`))
  return yield* Effect.never
})

Effect.runFork(Effect.provide(main, served(workflows, folder)))
