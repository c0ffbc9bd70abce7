/**
 * The endpoints of an `HttpApi` as tools. A tool has the schemas of its endpoint, the endpoint's own errors, and side effects by its method.
 * Requests go through the `HttpClient` in the context, which has the credentials and the base URL. An answer without a declared status, or
 * one that does not fit, is an `ExecutionError` with an `ApiError` as its cause.
 */
import type * as Recovery from "@kintsugi/core/Recovery"
import type * as Tool from "@kintsugi/core/Tool"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { type Declared, type Given, isPlain, toolOf } from "./endpoint.ts"
import type * as Types from "./httpTypes.ts"
import { namesOf } from "./names.ts"

/**
 * Makes tools of the endpoints of an API, by name: `group_endpoint`, or `endpoint` in a top-level group. Endpoints with streams, upgrades or
 * forms with files are left out. Throws a `TypeError` for two endpoints of one name, and for a name in the options that no endpoint has.
 */
export const fromApi = <
  Id extends string,
  Groups extends HttpApiGroup.Constraint,
  const O extends Types.Options<Types.InApi<Groups>> = {}
>(
  api: HttpApi.HttpApi<Id, Groups>,
  options?: O & Types.DeclaredNames<O, Types.InApi<Groups>>
): Types.ApiTools<Types.InApi<Groups>, O> =>
  made(api as unknown as HttpApi.Top, options, (group, endpoint) =>
    group.topLevel ? endpoint : `${group.identifier}_${endpoint}`
  )

/** Makes tools of the endpoints of one group, under their own names. It is `fromApi` in all other respects. */
export const fromGroup = <
  Group extends HttpApiGroup.Constraint,
  const O extends Types.Options<Types.InGroup<Group>> = {}
>(
  group: Group,
  options?: O & Types.DeclaredNames<O, Types.InGroup<Group>>
): Types.ApiTools<Types.InGroup<Group>, O> =>
  made(HttpApi.make(group.identifier).add(group) as unknown as HttpApi.Top, options, (_, endpoint) => endpoint)

interface AnyOptions extends Given {
  readonly include?: ReadonlyArray<string>
  readonly sideEffects?: { readonly [name: string]: Recovery.SideEffects | undefined }
}

const made = <Tools>(
  api: HttpApi.Top,
  { include, sideEffects = {}, ...given }: AnyOptions = {},
  nameOf: (group: HttpApiGroup.Top, endpoint: string) => string
): Tools => {
  const all: Array<Declared> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, group, mergedAnnotations, successes }) => {
      const declared: Declared = {
        name: nameOf(group, endpoint.identifier),
        api: api.identifier,
        group,
        endpoint,
        annotations: mergedAnnotations,
        successes: [...successes.values()].flat(),
        errors: [...errors.values()].flat(),
        statuses: new Set([...successes.keys(), ...errors.keys()])
      }
      if (isPlain(declared)) all.push(declared)
    }
  })
  const names = namesOf(
    "HttpApiTools",
    all.map(({ name }) => name),
    [...(include ?? []), ...Object.keys(sideEffects)]
  )
  const wanted = include === undefined ? undefined : new Set(include)
  // cast: the types compute the tools from the declaration
  return Object.fromEntries(
    all.flatMap((declared, index): ReadonlyArray<[string, Tool.AnyTool]> => {
      const { name } = declared
      if (wanted?.has(name) === false) return []
      return [[name, toolOf({ ...declared, name: names[index] ?? name }, sideEffects[name], given)]]
    })
  ) as Tools
}
