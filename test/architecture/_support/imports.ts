/** What a source imports, which casts it makes, and which functions it makes right where a property takes them. */
import { type File } from "../../../scripts/files.ts"
import { lineAt, type Node, nodeIn, nodesIn, parse, textIn, walk } from "../../../scripts/syntax.ts"

/** One import, or one export that names another module. */
export interface Import {
  readonly from: string
  readonly line: number
  /** The names that the file takes from there; `"*"` when it passes all of them on. */
  readonly names: ReadonlyArray<string>
}

const sourceOf = (node: Node): string | undefined => textIn(nodeIn(node, "source"), "value")

/** The names that are read off each identifier: `Schema.Struct` in values, `Schema.Schema` in types. */
const membersIn = (nodes: ReadonlyArray<Node>): ReadonlyMap<string, ReadonlySet<string>> => {
  const members = new Map<string, Set<string>>()
  for (const node of nodes) {
    const [holder, member] =
      node.type === "MemberExpression" && node["computed"] !== true
        ? [nodeIn(node, "object"), nodeIn(node, "property")]
        : node.type === "TSQualifiedName"
          ? [nodeIn(node, "left"), nodeIn(node, "right")]
          : []
    const name = textIn(member, "name")
    const of = holder?.type === "Identifier" ? textIn(holder, "name") : undefined
    if (of !== undefined && name !== undefined) members.set(of, (members.get(of) ?? new Set()).add(name))
  }
  return members
}

const nameOf = (node: Node | undefined): string => textIn(node, "name") ?? textIn(node, "value") ?? "default"

const namesOf = (statement: Node, members: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyArray<string> => {
  if (statement.type === "ExportAllDeclaration" || statement.type === "ImportExpression") return ["*"]
  if (statement.type === "TSImportType") {
    const qualifier = nodeIn(statement, "qualifier")
    return qualifier === undefined ? ["*"] : [nameOf(qualifier)]
  }
  return nodesIn(statement, "specifiers").flatMap((specifier) => {
    const local = nameOf(nodeIn(specifier, "local"))
    if (specifier.type === "ImportNamespaceSpecifier") return [...(members.get(local) ?? [])]
    return [specifier.type === "ExportSpecifier" ? local : nameOf(nodeIn(specifier, "imported"))]
  })
}

const importing = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType"
])

const read = (text: string): ReadonlyArray<Import> => {
  const nodes = [...walk(parse(text))]
  const members = membersIn(nodes)
  return nodes.flatMap((node) => {
    const from = importing.has(node.type) ? sourceOf(node) : undefined
    return from === undefined ? [] : [{ from, line: lineAt(text, node.start), names: namesOf(node, members) }]
  })
}

/** By the text of a file: several checks ask about the same files. */
const cache = new Map<string, ReadonlyArray<Import>>()

/** Every import of the file, type imports and dynamic ones too. */
export const importsOf = ({ text }: File): ReadonlyArray<Import> => {
  const found = cache.get(text) ?? read(text)
  cache.set(text, found)
  return found
}

/** A cast; `as const` is none. */
export interface Cast {
  readonly line: number
  readonly toAny: boolean
}

export const castsOf = ({ text }: File): ReadonlyArray<Cast> =>
  [...walk(parse(text))]
    .filter((node) => node.type === "TSAsExpression" || node.type === "TSTypeAssertion")
    .flatMap((node) => {
      const target = nodeIn(node, "typeAnnotation")
      const isConst = target?.type === "TSTypeReference" && textIn(nodeIn(target, "typeName"), "name") === "const"
      return isConst ? [] : [{ line: lineAt(text, node.end), toAny: target?.type === "TSAnyKeyword" }]
    })

const isFunction = (node: Node | undefined): boolean =>
  node?.type === "ArrowFunctionExpression" || node?.type === "FunctionExpression"

/** The lines on which a function is made right behind the name of the property that takes it: `meter.announce = () => …`. */
export const assignedFunctionsOf = ({ text }: File): ReadonlyArray<number> =>
  [...walk(parse(text))]
    .filter((node) => node.type === "AssignmentExpression")
    .filter((node) => nodeIn(node, "left")?.type === "MemberExpression" && isFunction(nodeIn(node, "right")))
    .map(({ start }) => lineAt(text, start))
