using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace FastPort.Telemetry.Histograms;

/// <summary>
/// The part of a striped structure that one processor writes, guarded by a flag that is nearly always free.
/// </summary>
/// <remarks>
/// A <see cref="Lock"/> would be right too but costs three times as much per record, and its waiting is not needed: a writer that finds
/// the flag taken goes to another stripe (<see cref="StripeSet{T}"/>), and a reader holds it only to exchange a reference.
/// </remarks>
internal abstract class Stripe
{
    private LoneFlag _flag;

    /// <summary>Takes the stripe if it is free.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryEnter() => Volatile.Read(ref _flag.Held) == 0 && Interlocked.Exchange(ref _flag.Held, 1) == 0;

    /// <summary>Takes the stripe, waiting for the few nanoseconds that a record lasts.</summary>
    internal void Enter()
    {
        var spin = default(SpinWait);
        while (!TryEnter())
        {
            // Yields to a preempted holder, but never sleeps a millisecond.
            spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    /// <summary>Gives the stripe back, publishing what was written.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Exit() => Volatile.Write(ref _flag.Held, 0);

    // Alone on its cache line: neighbours on the heap may belong to another processor's stripe.
    [StructLayout(LayoutKind.Explicit, Size = 128)]
    private struct LoneFlag
    {
        [FieldOffset(64)]
        internal int Held;
    }
}
