/** The address of an operation, and the hosts to which requests may go. */
import * as Predicate from "effect/Predicate"
import { refusal } from "./documentError.ts"
import { field, isJsonObject, type Part } from "./pointer.ts"

/**
 * Whether requests may go to this address: without credentials in it, to a host of the list. Credentials of the client go in plain text only
 * to this machine, and to hosts that the list names with `http://`.
 */
export const isAllowed = (
  { host, hostname, password, protocol, username }: URL,
  hosts: ReadonlySet<string>
): boolean => {
  if (username !== "" || password !== "") return false
  if (hosts.has(`http://${host}`)) return protocol === "https:" || protocol === "http:"
  return hosts.has(host) && (protocol === "https:" || (protocol === "http:" && loopback.has(hostname)))
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

interface Settings {
  readonly api: string
  readonly hosts: ReadonlySet<string>
  readonly baseUrl: string | URL | undefined
}

/** The server of an operation: the given base, or the first server of the nearest part. Throws an `ApiDocumentError`. */
export const addressOf = (parts: ReadonlyArray<Part>, { api, baseUrl, hosts }: Settings): URL => {
  const server = parts.map((part) => field(field(part, "servers") ?? missing, "0")).find((found) => found !== undefined)
  const pointer = baseUrl === undefined ? (server?.pointer ?? "#/servers") : "#/servers"
  const text = baseUrl === undefined ? filled(server) : String(baseUrl)
  if (!URL.canParse(text))
    throw refusal(api, pointer, "host", `the address '${text}' is no URL; set the option baseUrl`)
  const url = new URL(text)
  if (!isAllowed(url, hosts))
    throw refusal(api, pointer, "host", `the option hosts does not allow '${url.protocol}//${url.host}'`)
  return url
}

const missing: Part = { value: undefined, pointer: "#" }

/** The address of a server, with the defaults of its variables. */
const filled = (server: Part | undefined): string => {
  const url = server === undefined ? undefined : field(server, "url")?.value
  if (!Predicate.isString(url) || url.length > longest) return ""
  const variables = field(server ?? missing, "variables")?.value
  return url.replaceAll(/\{([^{}]*)\}/g, (all, name: string) => {
    const variable = isJsonObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    const value = isJsonObject(variable) ? variable["default"] : undefined
    return Predicate.isString(value) && value.length <= longest ? value : all
  })
}

/** The longest address of a server, in characters. */
const longest = 2000
