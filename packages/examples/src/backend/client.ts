/** The client of the API, for other programs: its methods, inputs, answers and errors are those of the contract. */
import { HttpApiClient } from "effect/http-api"
import { Api } from "./api.ts"

/** Over whatever `HttpClient` there is. */
export const make = (baseUrl: string) => HttpApiClient.make(Api, { baseUrl })
