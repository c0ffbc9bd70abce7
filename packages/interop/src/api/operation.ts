/** Reads the operations of an OpenAPI document. */
import type * as Bounds from "@kintsugi/core/Bounds"
import type * as RawSchema from "@kintsugi/core/RawSchema"
import * as Render from "@kintsugi/core/Render"
import * as Predicate from "effect/Predicate"
import { ApiDocumentError, refusal } from "./documentError.ts"
import { cut, DocumentSchemas, type Total } from "./documentSchema.ts"
import { field, isJsonObject, type Json, type ObjectPart, type Part, type References } from "./pointer.ts"
import { addressOf } from "./server.ts"
import type { Parameter } from "./style.ts"

const methods = ["get", "head", "options", "trace", "put", "delete", "post", "patch"] as const

/** An operation that is not read yet. */
export interface Listed {
  /** Its operation id; without one, the method and the path, such as `get /pets`. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: Part
  readonly item: ObjectPart
}

/** An operation, as far as requests and models need it. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly server: URL
  readonly parameters: ReadonlyArray<Parameter>
  readonly mediaType: string | undefined
  readonly description: string
  readonly schema: RawSchema.RawSchema
}

/** What all operations of a document share. */
export interface Settings extends Security {
  readonly api: string
  readonly references: References
  readonly bounds: Bounds.Bounds
  readonly total: Total
  readonly isOld: boolean
  readonly hosts: ReadonlySet<string>
  readonly baseUrl: string | URL | undefined
  readonly headers: ReadonlySet<string>
}

/** The operations, in the order of the document, and the refusals of path items that cannot be read. */
export const operationsOf = (references: References): ReadonlyArray<Listed | ApiDocumentError> => {
  const root: Part = { value: references.root, pointer: "#" }
  const paths = field(root, "paths")
  if (paths === undefined || !isJsonObject(paths.value)) return []
  return Object.keys(paths.value).flatMap((path): ReadonlyArray<Listed | ApiDocumentError> => {
    const item = objectOf(references, field(paths, path))
    if (item instanceof ApiDocumentError) return [item]
    if (item === undefined || !path.startsWith("/")) return []
    return methods.flatMap((method): ReadonlyArray<Listed> => {
      const operation = field(item, method)
      if (operation === undefined || !isJsonObject(operation.value)) return []
      const { operationId } = operation.value
      const id = Predicate.isString(operationId) && operationId !== "" ? operationId : `${method} ${path}`
      return [{ id, method: method.toUpperCase(), path, operation, item }]
    })
  })
}

/** The object of a part, or why its reference cannot be followed. */
const objectOf = (references: References, part: Part | undefined): ObjectPart | ApiDocumentError | undefined => {
  try {
    return references.object(part)
  } catch (error) {
    if (error instanceof ApiDocumentError) return error
    throw error
  }
}

/** What the security schemes of a document say. */
export interface Security {
  /** The parameters that carry credentials, as `place name`. */
  readonly credentials: ReadonlySet<string>
  /** The schemes that cannot be read, by name. */
  readonly unreadable: ReadonlyMap<string, ApiDocumentError>
}

/** Reads the security schemes of the document. */
export const securityOf = (references: References): Security => {
  const unreadable = new Map<string, ApiDocumentError>()
  const credentials = new Set(["header authorization", "header proxy-authorization", "header cookie"])
  const schemes = field(field({ value: references.root, pointer: "#" }, "components") ?? nothing, "securitySchemes")
  if (schemes === undefined || !isJsonObject(schemes.value)) return { credentials, unreadable }
  for (const name of Object.keys(schemes.value)) {
    const scheme = objectOf(references, field(schemes, name))
    if (scheme instanceof ApiDocumentError) unreadable.set(name, scheme)
    else if (scheme?.value["type"] === "apiKey" && Predicate.isString(scheme.value["name"]))
      credentials.add(keyOf(String(scheme.value["in"]), scheme.value["name"]))
  }
  return { credentials, unreadable }
}

/** The refusal of an operation that needs a security scheme which cannot be read: the scheme may make a parameter a credential. */
const unreadableOf = (operation: Part, { references, unreadable }: Settings): ApiDocumentError | undefined => {
  const security = field(operation, "security")?.value ?? references.root["security"]
  if (!Array.isArray(security)) return undefined
  return security
    .filter(isJsonObject)
    .flatMap((schemes) => Object.keys(schemes))
    .map((name) => unreadable.get(name))
    .find((error) => error !== undefined)
}

/** Names of headers have no case; those of queries are compared without it, to be careful. */
export const keyOf = (where: string, name: string): string => `${where} ${name.toLowerCase()}`

// Mutant `""` survives: nothing has no fields whose pointers begin with it
const nothing: Part = { value: undefined, pointer: "#" }

/** Reads one operation. Throws an `ApiDocumentError` or an `InputTooLargeError`. */
export const read = (listed: Listed, settings: Settings): Operation => {
  const { api, references } = settings
  const { id, item, method, operation, path } = listed
  const { pointer } = operation
  const unsupported = (where: string, what: string) => refusal(api, where, "unsupported", what)
  // A URL drops line breaks and tabs, and reads a backslash as a slash.
  if (/[\\\p{Cc}]/u.test(path) || path.split("/").some((segment) => isDots(segment)))
    throw unsupported(pointer, "its path has a segment that leads to another path")
  const template = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name)
  const inPath = new Set(template)
  // an argument is written once: a short path would multiply a long one
  if (inPath.size < template.length) throw unsupported(pointer, "its path has a parameter twice")
  // a client on `fetch` refuses both
  if (method === "TRACE") throw unsupported(pointer, "a request with the method TRACE cannot be sent")
  const isBare = method === "GET" || method === "HEAD"
  if (isBare && field(operation, "requestBody") !== undefined)
    throw unsupported(pointer, `a request with the method ${method} cannot be sent with a body`)
  const unreadable = unreadableOf(operation, settings)
  if (unreadable !== undefined) throw unreadable
  const schemas = new DocumentSchemas(references, {
    bounds: settings.bounds,
    total: settings.total,
    isOld: settings.isOld,
    what: `The input schema of operation '${cut(id)}' of the API '${api}'`
  })
  const groups = { path: new Group(), query: new Group(), header: new Group() }
  const parameters: Array<Parameter> = []
  for (const { name, part, where } of declared(listed, references)) {
    if (where === "cookie" || settings.credentials.has(keyOf(where, name))) continue
    if (where === "header" && !settings.headers.has(name.toLowerCase())) continue
    if (where !== "path" && where !== "query" && where !== "header")
      throw unsupported(part.pointer, `a parameter in '${where}' cannot be sent`)
    if (where === "path" && !inPath.has(name)) continue
    const content = field(part, "content")
    const style = content === undefined ? (part.value["style"] ?? (where === "query" ? "form" : "simple")) : "json"
    if (!isStyle(style) || (where !== "query" && style !== "simple" && style !== "json"))
      throw unsupported(part.pointer, `a parameter of style '${String(style)}' cannot be sent`)
    const { explode, required } = part.value
    const isRequired = where === "path" || required === true
    const schema = field(content === undefined ? part : (mediaIn(content)?.part ?? nothing), "schema")
    const isExploded = Predicate.isBoolean(explode) ? explode : style === "form"
    parameters.push({ name, in: where, isRequired, style, isExploded })
    groups[where].add(name, described(schema === undefined ? {} : schemas.schema(schema), part.value), isRequired)
  }
  const declaredInPath = new Set(parameters.filter((one) => one.in === "path").map(({ name }) => name))
  for (const name of inPath)
    if (!declaredInPath.has(name))
      throw unsupported(pointer, `the document does not declare the parameter '${name}' of the path`)
  const all = new Group()
  all.addGroup("params", groups.path)
  all.addGroup("query", groups.query)
  all.addGroup("headers", groups.header)
  const body = references.object(field(operation, "requestBody"))
  const media = body === undefined ? undefined : mediaIn(field(body, "content") ?? nothing)
  if (body !== undefined && media === undefined && body.value["required"] === true)
    throw unsupported(body.pointer, "the body has none of the media types JSON, form and text")
  if (media !== undefined) {
    const schema = field(media.part, "schema")
    all.add("payload", schema === undefined ? {} : schemas.schema(schema), body?.value["required"] === true)
  }
  const definitions = schemas.definitions()
  return {
    id,
    method,
    path,
    server: addressOf([operation, item, { value: references.root, pointer: "#" }], settings),
    parameters,
    mediaType: media?.mediaType,
    description: descriptionOf(method, path, operation.value as Json),
    // cast: made of JSON alone
    schema: {
      ...all.schema(),
      ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
    } as RawSchema.RawSchema
  }
}

/** Whether a URL reads a segment of a path as `.` or `..`: a dot may be encoded. */
export const isDots = (segment: string): boolean => /^(?:\.|%2e){1,2}$/i.test(segment)

/** The properties of an object schema. */
class Group {
  readonly #properties: Array<[string, unknown]> = []
  readonly #required: Array<string> = []

  add(name: string, schema: Json | boolean, isRequired: boolean): void {
    this.#properties.push([name, schema])
    if (isRequired) this.#required.push(name)
  }

  addGroup(name: string, group: Group): void {
    if (group.#properties.length > 0) this.add(name, group.schema(), group.#required.length > 0)
  }

  schema(): Json {
    return {
      type: "object",
      properties: Object.fromEntries(this.#properties),
      ...(this.#required.length === 0 ? {} : { required: this.#required }),
      additionalProperties: false
    }
  }
}

const described = (schema: Json | boolean, { description }: Json): Json | boolean =>
  Predicate.isString(description) && isJsonObject(schema) && schema["$ref"] === undefined
    ? { ...schema, description: cut(description) }
    : schema

/** The parameters of an operation, each once: those of the operation come before those of its path. */
const declared = ({ item, operation }: Listed, references: References) => {
  const found = new Map<string, { readonly name: string; readonly where: string; readonly part: ObjectPart }>()
  for (const holder of [operation, item]) {
    const list = field(holder, "parameters")
    if (list === undefined || !Array.isArray(list.value)) continue
    for (const index of list.value.keys()) {
      const part = references.object(field(list, String(index)))
      const name = part?.value["name"]
      const where = part?.value["in"]
      if (part === undefined || !Predicate.isString(name) || !Predicate.isString(where)) continue
      const key = `${where} ${name}`
      if (!found.has(key)) found.set(key, { name, where, part })
    }
  }
  return found.values()
}

const isStyle = (style: unknown): style is Parameter["style"] =>
  Predicate.isString(style) &&
  ["simple", "form", "spaceDelimited", "pipeDelimited", "deepObject", "json"].includes(style)

/** The media type that is sent: JSON before a form before text. */
const mediaIn = (content: Part): { readonly mediaType: string; readonly part: Part } | undefined => {
  if (!isJsonObject(content.value)) return undefined
  const all = Object.keys(content.value).map((name) => ({ name, type: name.split(";", 1)[0]!.trim().toLowerCase() }))
  const chosen =
    all.find(({ type }) => type === "application/json" || (type.endsWith("+json") && isToken(type))) ??
    all.find(({ type }) => type === form) ??
    all.find(({ type }) => type === "text/plain")
  if (chosen === undefined) return undefined
  const part = field(content, chosen.name)
  return part === undefined ? undefined : { mediaType: chosen.type, part }
}

/** Whether a media type can be the value of a header. */
const isToken = (type: string): boolean => /^[\w!#$&^.+/-]+$/.test(type)

/** The media type of a form. */
export const form = "application/x-www-form-urlencoded"

/** The words of the document are data: they are framed as such. */
const descriptionOf = (method: string, path: string, { description, summary }: Json): string => {
  const words = [summary, description].filter(Predicate.isString).join("\n").trim()
  const isPlain = /^[!-;=?-~]*$/.test(path)
  const request = isPlain ? cut(`${method} ${path}`) : `${method} ${Render.asData(cut(path))}`
  return words === "" ? request : `${request}\n${Render.asData(cut(words))}`
}
