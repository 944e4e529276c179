// Tables of text as people and programs write them; the answers are those of numpy.loadtxt and numpy.genfromtxt (2.4).
// runs on: node, musl

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

const read = (text: string, options?: ft.io.LoadTextOptions): unknown => ft.io.loadTextSync(new TextEncoder().encode(text), options).toArray()
const FOUR = [[1, 2], [3, 4]]

test('any number of blanks stands between columns where the delimiter is null', (t) => {
  for (const text of ['1 2\n3 4', '1   2\n3\t\t4\n', '  1 2 \n\t3 4\t\n', '1 2\r\n3 4\r\n', '1 2\r3 4\r', '# x\n\n1 2 # y\n   \n3 4#z', '"1" "2"\n3 4']) {
    t.deepEqual(read(text, { delimiter: null }), FOUR, JSON.stringify(text))
  }
  t.deepEqual(read('a  b\n1  2\n3  4', { delimiter: null, header: true }), FOUR)
  // A space is one delimiter: between two of them is a field. At the ends of lines it is none.
  t.deepEqual(read(' 1 2 \n3 4', { delimiter: ' ' }), FOUR)
  throws(t, 'ERR_FORMAT', /line 1, column 2: an empty field/, () => read('1  2', { delimiter: ' ' }))
})

test('comments stand behind numbers too, but not in quotes', (t) => {
  for (const text of ['1,2 # one, two\n3,4#', '# only\n1,2\n  # indented\n3,4', '"1",2#"\n3,4']) t.deepEqual(read(text), FOUR, JSON.stringify(text))
  t.deepEqual(read('"a#1",b\n1,2\n3,4', { header: true }), FOUR)
  t.deepEqual(read('1,2 % note\n3,4', { comments: '%' }), FOUR)
  throws(t, 'ERR_FORMAT', /'2 # note'/, () => read('1,2 # note', { comments: null }))
  t.deepEqual(read('1 2\n3 4', { comments: null, delimiter: null }), FOUR)
})

test('missing fields are filled where it is said with what', (t) => {
  t.deepEqual(read('1,,3\n,5,', { fillingValue: NaN }), [[1, NaN, 3], [NaN, 5, NaN]])
  t.deepEqual(read('1,,3\n,5,', { fillingValue: -1, dtype: 'int32' }), [[1, -1, 3], [-1, 5, -1]])
  t.deepEqual(read('1,NA\n-,2', { missingValues: ['NA', '-'] }), [[1, NaN], [NaN, 2]])
  t.deepEqual(read('1,"N/A"\n3,4', { missingValues: ['N/A'], fillingValue: 2 }), FOUR)
  t.deepEqual(read('1;;2\n', { delimiter: ';', fillingValue: 9007199254740993n, dtype: 'int64' }), [[1n, 9007199254740993n, 2n]])
  t.deepEqual(read('1,\n', { fillingValue: false, dtype: 'bool' }), [[true, false]])
  throws(t, 'ERR_FORMAT', /line 1, column 2: an empty field is no number of float32; 'fillingValue' says what stands for one$/, () => read('1,,3'))
  throws(t, 'ERR_FORMAT', /the rows before have 2/, () => read('1,2\n3', { fillingValue: 0 }))
  throws(t, 'ERR_DTYPE', /'fillingValue' NaN is no number of int32/, () => read('1,', { fillingValue: NaN, dtype: 'int32' }))
  throws(t, 'ERR_DTYPE', /'fillingValue' NaN is no number of int32/, () => read('NA', { missingValues: ['NA'], dtype: 'int32' }))
  throws(t, 'ERR_ARGUMENT', /'fillingValue' must be a number, a bigint or a boolean, got 'x'/, () => read('1', { fillingValue: 'x' as never }))
  throws(t, 'ERR_ARGUMENT', /'missingValues' must be an array of texts, got 'NA'/, () => read('1', { missingValues: 'NA' as never }))
})

test('trailing delimiters are a field, which may be filled', (t) => {
  t.deepEqual(read('1,2,\n3,4,\n', { fillingValue: 0 }), [[1, 2, 0], [3, 4, 0]])
  throws(t, 'ERR_FORMAT', /line 1, column 3: an empty field/, () => read('1,2,\n3,4,\n'))
})

test('quotes hold names and numbers', (t) => {
  t.deepEqual(read('"x, ""y""\n",z\n" 1 ", "2"\n3,4', { header: true }), FOUR)
  throws(t, 'ERR_FORMAT', /line 2: a quote that does not end/, () => read('1,2\n"3,4'))
})

test('no digit of an integer is lost where no dtype is named', (t) => {
  throws(t, 'ERR_FORMAT', /line 2, column 1: '123456789' is not exact in float32, the default; name a dtype/, () => read('1\n123456789'))
  throws(t, 'ERR_FORMAT', /'1e39' is beyond float32/, () => read('1e39'))
  t.deepEqual(read('123456789', { dtype: 'float64' }), [[123456789]])
  t.deepEqual(read('123456789', { dtype: 'int32' }), [[123456789]])
  t.deepEqual(read('123456789', { dtype: 'float32' }), [[123456792]])
  t.deepEqual(read('16777216,0.1,1e11,-33554432'), [[16777216, Math.fround(0.1), Math.fround(1e11), -33554432]])
})
