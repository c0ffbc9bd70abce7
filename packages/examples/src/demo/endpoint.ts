/** Where the model is: behind a server of our own, or at a real endpoint. */
import type { Model } from "@kintsugi/core"
import { OpenAi, Transport } from "@kintsugi/providers"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Faults, Settings } from "./cli.ts"
import * as FaultScript from "./faultScript.ts"
import { reply } from "./standIn.ts"

export const layer = (model: Settings["model"]): Layer.Layer<Model.Model, Config.ConfigError> =>
  model.type === "embedded" ? embedded(model.faults) : real(model.name, model.baseUrl)

/** A host that speaks OpenAI's format, and like most of them promises nothing about schemas. */
export const standIn: OpenAiCompatible.Host = {
  provider: "loopback",
  variables: { baseUrl: "STAND_IN_BASE_URL" },
  dialect: {}
}

/** The stand-in model behind a real HTTP server, reached as any other endpoint is. */
const embedded = (faults: Faults): Layer.Layer<Model.Model> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const brain = AnyWire.handler((request) => Effect.sync(() => reply(request.received.body)))
      const server = yield* LoopbackServer.make(Fault.inFront(FaultScript.make(faults), brain))
      const apiKey = Redacted.make("none-needed")
      return OpenAiCompatible.layer(standIn, { model: "stand-in", apiKey, baseUrl: `${server.url}/v1` })
    })
  ).pipe(Layer.provide(Transport.layerFetch))

const real = (name: string, baseUrl: string | undefined): Layer.Layer<Model.Model, Config.ConfigError> =>
  OpenAi.model(name, baseUrl === undefined ? {} : { baseUrl })
