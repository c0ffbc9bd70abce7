/** The client of the API, for other programs: its methods, inputs, answers and errors are those of the contract. */
import { Effect, type Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api, Deciding } from "./api.ts"

/** Over the `HttpClient` of the context. Decisions about approvals need the token of the server. */
export const make = (baseUrl: string, token?: Redacted.Redacted) =>
  HttpApiClient.make(Api, { baseUrl }).pipe(
    Effect.provide(
      HttpApiMiddleware.layerClient(Deciding, ({ next, request }) =>
        next(token === undefined ? request : HttpClientRequest.bearerToken(request, token))
      )
    )
  )
