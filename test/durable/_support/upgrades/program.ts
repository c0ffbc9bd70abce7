/** Begins the runs on PGlite in a folder, and prints a line when all of them wait. Then it waits to be killed. */
import { Durable } from "@kintsugi/durable"
import { Effect, Layer } from "effect"
import process from "node:process"
import { inputs, made } from "./runs.ts"

const { durable, ran } = made(true)
const [, , folder = ""] = process.argv
/** The calls after which all runs wait. */
const last = 7

const main = Effect.gen(function* () {
  for (const input of inputs) yield* Durable.start(durable, { id: input, input })
  while (ran.length < last) yield* Effect.sleep("100 millis")
  // what the last call gave is stored a moment later
  yield* Effect.sleep("3 seconds")
  yield* Effect.sync(() => process.stdout.write(`${ran.join(" ")}\n`))
  return yield* Effect.never
})

const engine = Durable.layerPglite({ folder })
Effect.runFork(Effect.provide(main, Layer.provideMerge(durable.layer, engine)))
