import * as ft from 'ferrotensor'
const a = ft.tensor([1,2,3,4]), b = ft.tensor([1,1,1,1])
ft.evaluateSync(a,b)
function best(name, per, fn) { let m = Infinity; for (let r = 0; r < 15; r++) { const c0 = process.cpuUsage(); const t = performance.now(); const n = fn(); const d = (performance.now()-t)*1e3/n; if (d<m) m=d } console.log(name, m.toFixed(3), 'us') }
best('add chain 32 + dataSync, per op', 0, () => { const R = 2000; for (let i=0;i<R;i++){ let x=a; for(let k=0;k<32;k++) x = x.add(b); x.dataSync() } return R*32 })
best('add scalar chain 32, per op', 0, () => { const R = 2000; for (let i=0;i<R;i++){ let x=a; for(let k=0;k<32;k++) x = x.mul(0.5); x.dataSync() } return R*32 })
best('single add + dataSync', 0, () => { const R = 20000; for (let i=0;i<R;i++) a.add(b).dataSync(); return R })
best('single add + itemSync sum', 0, () => { const R = 20000; for (let i=0;i<R;i++) a.sum().itemSync(); return R })
best('eval dispose', 0, () => { const R = 20000; for (let i=0;i<R;i++) {const x=a.add(b); ft.evaluateSync(x); x.dispose()} return R })
for (let r=0;r<6;r++){ const t=performance.now(); const R=20000; for(let i=0;i<R;i++) await a.add(b).data(); console.log('await data', ((performance.now()-t)*1e3/R).toFixed(3)) }
best('unread loop', 0, () => { let w=a; const R=100000; for (let i=0;i<R;i++) w = w.add(w.mul(b).exp().mul(-0.001)); return R*4 })
best('record only at', 0, () => { const R=20000; for (let i=0;i<R;i++) a.at(i&3); return R })
best('matmul-like where', 0, () => { const R=20000; for (let i=0;i<R;i++) ft.where(true, a, b); return R })
