// Tables with columns of several kinds; the answers are those that pandas.read_csv would give, written by hand, in the dtypes of this library.
// runs on: node, musl

import { writeFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { run } from '../child.js'
import { throws } from '../expect.js'
import { folder } from './folder.js'

const at = folder()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const load = <const T extends ft.io.TableTypes | undefined = undefined>(text: string, options?: ft.io.LoadTableOptions<T>): ft.io.Table<T> =>
  ft.io.loadTableSync(bytes(text), options)

/** A column as the test writes it: strings, or a dtype before the numbers. */
function plain(column: ft.io.TableColumn | undefined): unknown {
  return column === undefined || Array.isArray(column) ? column : [column.dtype, ...(column.toArray() as unknown[])]
}

function holds(t: ExecutionContext, table: Record<string, ft.io.TableColumn>, expected: Record<string, unknown>, about?: string): void {
  t.deepEqual(Object.keys(table), Object.keys(expected), about)
  for (const name of Object.keys(expected)) t.deepEqual(plain(table[name]), expected[name], about ?? name)
}

/** The first passengers of a well-known table, with a quoted comma, missing ages and cabins, and tickets that are numbers at first. */
const PASSENGERS = `PassengerId,Survived,Name,Sex,Age,Ticket,Fare,Cabin
1,0,"Braund, Mr. Owen Harris",male,22,113803,7.25,
2,1,"Cumings, Mrs. John Bradley (Florence ""Flo"" Briggs)",female,38,PC 17599,71.2833,C85
3,1,"Heikkinen, Miss. Laina",female,,STON/O2. 3101282,7.925,
`

test('columns of numbers and of text come back by name', async (t) => {
  const expected = {
    PassengerId: ['float32', 1, 2, 3],
    Survived: ['float32', 0, 1, 1],
    Name: ['Braund, Mr. Owen Harris', 'Cumings, Mrs. John Bradley (Florence "Flo" Briggs)', 'Heikkinen, Miss. Laina'],
    Sex: ['male', 'female', 'female'],
    Age: ['float32', 22, 38, NaN],
    Ticket: ['113803', 'PC 17599', 'STON/O2. 3101282'],
    Fare: ['float32', 7.25, Math.fround(71.2833), Math.fround(7.925)],
    Cabin: ['', 'C85', '']
  }
  holds(t, load(PASSENGERS), expected)
  t.is(Object.getPrototypeOf(load(PASSENGERS)), null)
  writeFileSync(at('passengers.csv'), PASSENGERS)
  for (const mapped of [true, false]) holds(t, await ft.io.loadTable(at('passengers.csv'), { mapped }), expected)
  holds(t, await ft.io.loadTable(bytes(PASSENGERS.replaceAll('\n', '\r\n').trimEnd())), expected)
  holds(t, load(`\uFEFF${PASSENGERS}`), expected)
})

test('dtypes lose no digit', (t) => {
  const column = (fields: readonly string[]): unknown => plain(load(`a,b\n${fields.map((field) => `${field},0\n`).join('')}`)['a'])
  t.deepEqual(column(['1', '-2.5', '+inf']), ['float32', 1, -2.5, Infinity])
  t.deepEqual(column(['20230115', '7']), ['int32', 20230115, 7])
  t.deepEqual(column(['7', '16777217']), ['int32', 7, 16777217])
  t.deepEqual(column(['16777217', '3000000001']), ['int64', 16777217n, 3000000001n])
  t.deepEqual(column(['16777217', '']), ['float64', 16777217, NaN])
  t.deepEqual(column(['16777217', '0.5']), ['float64', 16777217, 0.5])
  t.deepEqual(column(['', '']), ['float32', NaN, NaN])
  t.deepEqual(column(['true', 'false']), ['true', 'false'])
  throws(t, 'ERR_FORMAT', /^io.loadTableSync: line 2, column 1: a number is not exact in float64.*'string' for text$/, () => column(['9007199254740993', '0.5']))
  t.deepEqual(plain(load('a\n9007199254740993\n')['a']), ['int64', 9007199254740993n])
})

test('dtypes are chosen, for all columns or by name', (t) => {
  const text = 'zip,n,flag\n02134,1,true\n10115,,false\n'
  holds(t, load(text), { zip: ['float32', 2134, 10115], n: ['float32', 1, NaN], flag: ['true', 'false'] })
  const table = load(text, { dtype: { zip: 'string', n: 'float64', flag: 'bool' } })
  holds(t, table, { zip: ['02134', '10115'], n: ['float64', 1, NaN], flag: ['bool', true, false] })
  t.is(table.n.add(ft.ones([2], { dtype: 'float64' })).dtype, 'float64')
  t.is(table.zip[0]?.length, 5)
  holds(t, load(text, { dtype: 'string' }), { zip: ['02134', '10115'], n: ['1', ''], flag: ['true', 'false'] })
  holds(t, load(text, { dtype: 'int16', columns: [1, 0], fillingValue: -1 }), { n: ['int16', 1, -1], zip: ['int16', 2134, 10115] })
  holds(t, load(text, { columns: ['n'], fillingValue: 0.5 }), { n: ['float32', 1, 0.5] })
  // A type for a column that is not read says nothing.
  holds(t, load(text, { columns: ['n'], dtype: { zip: 'string' } }), { n: ['float32', 1, NaN] })
  throws(t, 'ERR_FORMAT', /line 3, column 2: an empty field is no number of int32; 'fillingValue' says/, () => load(text, { dtype: { n: 'int32' } }))
  throws(t, 'ERR_FORMAT', /line 2, column 3: 'true' is no number of float64$/, () => load(text, { dtype: 'float64' }))
  throws(t, 'ERR_DTYPE', /line 3, column 2: the field is missing, and 'fillingValue' 0.5 is no number of int32$/, () => load(text, { dtype: { n: 'int32' }, fillingValue: 0.5 }))
  throws(t, 'ERR_DTYPE', /text holds real numbers, not complex64/, () => load(text, { dtype: { n: 'complex64' } }))
  throws(t, 'ERR_ARGUMENT', /there is no column 'zipp'; did you mean 'zip'\?; there are 'zip', 'n', 'flag'$/, () => load(text, { dtype: { zipp: 'string' } }))
  throws(t, 'ERR_DTYPE', /: 'str' is not a dtype; text is 'string'$/, () => load(text, { dtype: { n: 'str' as ft.DType } }))
  throws(t, 'ERR_DTYPE', /: 'object' is not a dtype; text is 'string'$/, () => load(text, { dtype: 'object' as ft.DType }))
  throws(t, 'ERR_DTYPE', /int33/, () => load(text, { dtype: { n: 'int33' as ft.DType } }))
  throws(t, 'ERR_ARGUMENT', /'dtype' must be a dtype, 'string', or an object of them/, () => load(text, { dtype: ['string'] as never }))
})

test('missing numbers are NaN, and text stays as it is', (t) => {
  const text = 'x,s\n1,a\nNA,NA\n -, -\n"",""\n'
  holds(t, load(text, { missingValues: ['NA', '-'] }), { x: ['float32', 1, NaN, NaN, NaN], s: ['a', 'NA', ' -', ''] })
  holds(t, load(text), { x: ['1', 'NA', ' -', ''], s: ['a', 'NA', ' -', ''] })
  holds(t, load(text, { missingValues: ['NA', '-'], fillingValue: -9, dtype: { x: 'int8' } }), { x: ['int8', 1, -9, -9, -9], s: ['a', 'NA', ' -', ''] })
})

test('columns are read by name and by place, in the order given', async (t) => {
  const text = 'a,b,c\n1,x,3\n4,y,6\n'
  holds(t, load(text, { columns: ['c', 'a'] }), { c: ['float32', 3, 6], a: ['float32', 1, 4] })
  holds(t, load(text, { columns: [-1, 1] }), { c: ['float32', 3, 6], b: ['x', 'y'] })
  t.deepEqual(ft.io.loadTextSync(bytes(text), { header: true, columns: ['c', 'a'] }).toArray(), [[3, 1], [6, 4]])
  t.deepEqual((await ft.io.loadText(bytes('1,x,3\n4,y,6'), { columns: [-1, 0, 0], dtype: 'int8' })).toArray(), [[3, 1, 1], [6, 4, 4]])
  for (const call of [load, (csv: string, o: object) => ft.io.loadTextSync(bytes(csv), { header: true, ...o })]) {
    throws(t, 'ERR_ARGUMENT', /there is no column 'B'; did you mean 'b'\?|there is no column 'B'; there are 'a', 'b', 'c'/, () => call(text, { columns: ['B'] }))
    throws(t, 'ERR_INDEX', /'columns' has 3, the table has 3 columns, counted from 0$/, () => call(text, { columns: [3] }))
    throws(t, 'ERR_INDEX', /'columns' has -4/, () => call(text, { columns: [-4] }))
    throws(t, 'ERR_ARGUMENT', /'columns' must not be empty/, () => call(text, { columns: [] }))
    throws(t, 'ERR_ARGUMENT', /'columns' must be an array of names or of places, got 'a'/, () => call(text, { columns: 'a' as never }))
    throws(t, 'ERR_ARGUMENT', /'columns\[1\]' must be a text, got 0/, () => call(text, { columns: ['a', 0] as never }))
    throws(t, 'ERR_ARGUMENT', /'columns\[0\]' must be an integer, got 0.5/, () => call(text, { columns: [0.5] }))
    throws(t, 'ERR_ARGUMENT', /unknown option 'usecols'; did you mean 'columns'\?/, () => call(text, { usecols: [0] } as object))
  }
  throws(t, 'ERR_ARGUMENT', /'columns' has names, which need a row of names: \{ header: true \}/, () => ft.io.loadTextSync(bytes(text), { columns: ['a'] }))
  throws(t, 'ERR_ARGUMENT', /'columns' has column 'a' twice/, () => load(text, { columns: [0, -3] }))
})

test('names that repeat or are missing are told apart as pandas does it', (t) => {
  t.deepEqual(Object.keys(load(',a,b,a,a\n0,1,2,3,4')), ['Unnamed: 0', 'a', 'b', 'a.1', 'a.2'])
  t.deepEqual(Object.keys(load(' x , " y ",constructor,__proto__\n0,1,2,3')), ['x', ' y ', 'constructor', '__proto__'])
  t.deepEqual(plain(load('__proto__,b\n7,8')['__proto__']), ['float32', 7])
  t.deepEqual(Object.keys(load('1,2\n3,4', { header: false })), ['0', '1'])
  holds(t, load('1,x\n3,4', { header: false, dtype: { 1: 'string' } }), { 0: ['float32', 1, 3], 1: ['x', '4'] })
  throws(t, 'ERR_ARGUMENT', /there is no column '2'; the 2 columns have their places as names, from '0' on/, () => load('1,x', { header: false, dtype: { 2: 'string' } }))
})

test('rows, quotes and comments', (t) => {
  holds(t, load('a;b\n"x;""\r\n y";C#\n', { delimiter: ';' }), { a: ['x;"\r\n y'], b: ['C#'] })
  holds(t, load('% made today\na\tb # of\n1\tx#\n', { delimiter: '\t', comments: '#', skipRows: 1 }), { a: ['float32', 1], b: ['x'] })
  holds(t, load('a  b\n 1\t"x y" \n', { delimiter: null }), { a: ['float32', 1], b: ['x y'] })
  holds(t, load('a,b\n'), { a: ['float32'], b: ['float32'] })
  holds(t, load('', { header: false }), {})
  throws(t, 'ERR_FORMAT', /there is no row of names/, () => load(''))
  throws(t, 'ERR_FORMAT', /line 3: 1 fields, column 1; the header has 2$/, () => load('a,b\n1,2\n3\n'))
  throws(t, 'ERR_FORMAT', /line 2: more than 2 fields, column 3; the header has 2$/, () => load('a,b\n1,2,3\n'))
  throws(t, 'ERR_FORMAT', /line 2, column 1: text behind the closing quote$/, () => load('a,b\n"x"y,2\n'))
  throws(t, 'ERR_FORMAT', /line 2: a quote that does not end$/, () => load('a\n"x\n'))
  throws(t, 'ERR_FORMAT', /line 2, column 1: the field is not UTF-8$/, () => ft.io.loadTableSync(Buffer.from('a\n\xE9\n', 'latin1')))
  throws(t, 'ERR_FORMAT', /'maxBytes' allows/, () => load('a\n1\n2\n', { maxBytes: 7 }))
})

test('long texts and many of them come whole', async (t) => {
  const long = 'wörd 😀 '.repeat(20_000)
  const fields = Array.from({ length: 40_000 }, (_, i) => (i % 9 === 0 ? '' : i % 5 === 0 ? `ü${i}` : `n${i}`))
  fields[20_000] = long
  const csv = bytes(`s,i\n${fields.map((field, i) => `"${field}",${i}`).join('\n')}`)
  for (const table of [ft.io.loadTableSync(csv), await ft.io.loadTable(csv)]) {
    t.deepEqual(table['s'], fields)
    t.is((table['i'] as ft.Tensor).shape[0], fields.length)
  }
})

test('nothing stays of a load that fails in the middle', async (t) => {
  const { code, stdout, stderr } = await run(`
    const csv = Buffer.from('a,b\\n' + '1,2\\n'.repeat(1 << 20))
    ft.trim()
    ft.setMemoryLimit(6 << 20)
    const codes = []
    try { ft.io.loadTableSync(csv) } catch (error) { codes.push(error.code) }
    await ft.io.loadTable(csv).catch((error) => codes.push(error.code))
    codes.push(ft.io.loadTableSync(csv, { columns: ['b'] }).b.size)
    ft.trim()
    console.log(codes.join(), ft.memory().live)
  `)
  t.is(code, 0, stderr)
  t.is(stdout, 'ERR_OUT_OF_MEMORY,ERR_OUT_OF_MEMORY,1048576 0\n')
})

test('text beyond the heap of JavaScript is refused before it fills it', async (t) => {
  const { code, stdout, stderr } = await run(`
    const csv = Buffer.from('a\\n' + 'x\\n'.repeat(6e6))
    const small = new (await import('node:worker_threads')).Worker(\`
      import('ferrotensor').then(async (ft) => {
        const { workerData, parentPort } = await import('node:worker_threads')
        try { ft.io.loadTableSync(workerData) } catch (error) { parentPort.postMessage(error.code + ' ' + error.message) }
      })
    \`, { eval: true, workerData: csv, resourceLimits: { maxOldGenerationSizeMb: 64 } })
    small.on('message', (text) => console.log(text))
  `)
  t.is(code, 0, stderr)
  t.regex(stdout, /^ERR_OUT_OF_MEMORY io\.loadTableSync: the text takes about \d+ bytes of JavaScript's heap/)
})
