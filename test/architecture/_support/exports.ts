/** What a source exports. */
import { type File } from "../../../scripts/files.ts"
import { isNode, type Node, nodeIn, nodesIn, parse, textIn } from "../../../scripts/syntax.ts"

/** One exported name. */
export interface Export {
  readonly name: string
  /** Its comment, or that of the statement that exports it, says `@internal`. */
  readonly isInternal: boolean
  /** It is a type, and another exported declaration of the file names it. */
  readonly isNamedByOthers: boolean
}

/** `isOnlyReexports`: the file exports names of other files and nothing else. */
export interface Exports {
  readonly names: ReadonlyArray<Export>
  readonly isOnlyReexports: boolean
}

const typeDeclarations = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration"])

const nameOf = (node: Node | undefined): string => textIn(node, "name") ?? textIn(node, "value") ?? "default"

/** The names that a declaration gives. */
const declaredBy = (declaration: Node): ReadonlyArray<string> => {
  const declarators = nodesIn(declaration, "declarations")
  return declarators.length > 0
    ? declarators.map((declarator) => nameOf(nodeIn(declarator, "id")))
    : [nameOf(nodeIn(declaration, "id"))]
}

/** The comment that ends right above an offset. */
const commentAbove = (text: string, offset: number): string =>
  /\/\*\*(?:(?!\*\/)[^])*\*\/(?=(?:\s|\/\/.*\n)*$)/.exec(text.slice(0, offset))?.[0] ?? ""

export const exportsOf = ({ text }: File): Exports => {
  const statements = nodesIn(parse(text), "body")
  const exported = statements.filter(({ type }) => type === "ExportNamedDeclaration")
  const declarations = exported.flatMap((statement) => {
    const declaration = nodeIn(statement, "declaration")
    return declaration === undefined ? [] : [{ statement, declaration }]
  })
  const isNamedBy = (name: string, own: Node): boolean =>
    declarations.some(
      ({ declaration, statement }) =>
        declaration !== own &&
        !declaredBy(declaration).includes(name) &&
        new RegExp(`\\b${name}\\b`).test(text.slice(statement.start, statement.end))
    )
  const declared = declarations.flatMap(({ declaration, statement }) =>
    declaredBy(declaration).map((name) => ({
      name,
      isInternal: commentAbove(text, statement.start).includes("@internal"),
      isNamedByOthers: typeDeclarations.has(declaration.type) && isNamedBy(name, declaration)
    }))
  )
  const listed = exported.flatMap((statement) =>
    nodesIn(statement, "specifiers").map((specifier) => ({
      name: nameOf(nodeIn(specifier, "exported")),
      isInternal: commentAbove(text, statement.start).includes("@internal"),
      isNamedByOthers: false
    }))
  )
  const names = new Map<string, Export>()
  // a value and a type of one name, and the overloads of a function, are one export
  for (const found of [...declared, ...listed]) {
    const other = names.get(found.name)
    names.set(found.name, {
      ...found,
      isInternal: found.isInternal || other?.isInternal === true,
      isNamedByOthers: found.isNamedByOthers || other?.isNamedByOthers === true
    })
  }
  const imported = new Set(
    statements
      .filter(({ type }) => type === "ImportDeclaration")
      .flatMap((statement) => nodesIn(statement, "specifiers"))
      .map((specifier) => nameOf(nodeIn(specifier, "local")))
  )
  const isImported = (node: Node | undefined): boolean =>
    node?.type === "MemberExpression" ? isImported(nodeIn(node, "object")) : imported.has(nameOf(node))
  /** Whether a statement only gives a name of another file as its own, whatever the words for that. */
  const passesOn = (statement: Node): boolean => {
    if (statement.type === "ExportAllDeclaration") return true
    if (statement.type !== "ExportNamedDeclaration") return false
    const specifiers = nodesIn(statement, "specifiers")
    const declaration = nodeIn(statement, "declaration")
    if (declaration?.type === "VariableDeclaration") {
      return nodesIn(declaration, "declarations").every((one) => isImported(nodeIn(one, "init")))
    }
    if (declaration !== undefined) return false
    return isNode(statement["source"]) || specifiers.every((specifier) => isImported(nodeIn(specifier, "local")))
  }
  const others = statements.filter(({ type }) => type !== "ImportDeclaration")
  return { names: [...names.values()], isOnlyReexports: others.length > 0 && others.every(passesOn) }
}
