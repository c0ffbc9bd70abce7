/** Whose request it is: the customers by their tokens, and the people who decide by theirs. */
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import { Effect, Layer, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Access, customerOf, isSame, visitor } from "./access.ts"
import { Customer, Deciding } from "./api.ts"

const refusal = (detail: string) => Effect.fail(new AgentProxy.UnauthorizedError({ detail }))

const customer = Layer.effect(
  Customer,
  Effect.map(Access, (access) => {
    const signed = <A, E, R>(
      handling: Effect.Effect<A, E, R>,
      { credential }: { readonly credential: Redacted.Redacted }
    ) => {
      const name = customerOf(access, credential)
      return name === undefined
        ? refusal("Customers need their token: Authorization: Bearer <token>.")
        : Effect.provideService(handling, AgentProxy.Subject, name)
    }
    return { bearer: signed, cookie: signed }
  })
)

const deciding = Layer.effect(
  Deciding,
  Effect.map(Access, ({ token }) => ({
    bearer: (handling, { credential }) => {
      if (token === undefined || !isSame(token, credential)) {
        return refusal("Approvals need the token of this server: Authorization: Bearer <token>.")
      }
      return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        Effect.provideService(handling, AgentProxy.Subject, headers["on-behalf-of"] || visitor)
      )
    }
  }))
)

export const layer = Layer.merge(customer, deciding)
