/** Whose request it is: the customers by their tokens, and the people who decide by theirs. */
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import { Effect, Layer, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Access, isSame, visitor } from "./access.ts"
import { Customer, Deciding } from "./api.ts"

const refusal = (detail: string) => Effect.fail(new AgentProxy.UnauthorizedError({ detail }))

/** The customer with this token. Where no customer has a token, everybody is the visitor. */
const customerOf = ({ customers }: Access, given: Redacted.Redacted): string | undefined => {
  if (customers.length === 0) return visitor
  return customers.find(({ token }) => isSame(token, given))?.name
}

const customer = Layer.effect(
  Customer,
  Effect.map(Access, (access) => ({
    bearer: (handling, { credential }) => {
      const name = customerOf(access, credential)
      if (name === undefined) return refusal("Customers need their token: Authorization: Bearer <token>.")
      return Effect.provideService(handling, AgentProxy.Subject, name)
    }
  }))
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
