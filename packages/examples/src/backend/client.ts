/** The client of the API, for other programs: its methods, inputs, answers and errors are those of the contract. */
import { Effect, type Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api, Customer, Deciding } from "./api.ts"

/** The tokens of a client, and the customer about whose runs it decides. */
interface Credentials {
  readonly customer?: Redacted.Redacted
  readonly deciding?: Redacted.Redacted
  readonly onBehalfOf?: string
}

const signed = (token: Redacted.Redacted | undefined, request: HttpClientRequest.HttpClientRequest) =>
  token === undefined ? request : HttpClientRequest.bearerToken(request, token)

/** Over the `HttpClient` of the context. */
export const make = (baseUrl: string, { customer, deciding, onBehalfOf }: Credentials = {}) =>
  HttpApiClient.make(Api, { baseUrl }).pipe(
    Effect.provide([
      HttpApiMiddleware.layerClient(Customer, ({ next, request }) => next(signed(customer, request))),
      HttpApiMiddleware.layerClient(Deciding, ({ next, request }) => {
        const one = signed(deciding, request)
        return next(onBehalfOf === undefined ? one : HttpClientRequest.setHeader(one, "on-behalf-of", onBehalfOf))
      })
    ])
  )
