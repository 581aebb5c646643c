using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

/// <summary>Random operation sequences: the ring behaves like a plain list of bytes and returns every array exactly once.</summary>
public sealed class ArrayPoolCircularBufferPropertyTests
{
    // Every action once, and those that carry the unread bytes across the wrap more often than those that empty the ring.
    private static readonly RingAction[] Actions =
    [
        .. Enum.GetValues<RingAction>(),
        .. Enumerable.Repeat(RingAction.Write, 12),
        .. Enumerable.Repeat(RingAction.Consume, 9),
    ];

    [Theory]
    [InlineData(1, 1, 0)]
    [InlineData(1, 16, 0)]
    [InlineData(8, 64, 5)]
    [InlineData(5, 50, 0)]
    [InlineData(16, 33, 31)]
    public void Behaves_like_a_list_of_bytes(int minimum, int maximum, int surplus)
    {
        Arbitrary<RingOperation[]> operations = Arb.From(Gen.ArrayOf(OperationGen(maximum)), Shorter);
        Config config = Config.QuickThrowOnFailure.WithMaxTest(500).WithEndSize(150).WithQuietOnSuccess(true)
            .WithReplay(new Replay(new Rnd(6628, 1), null));
        Check.One(config, Prop.ForAll(operations, run => RingModel.Run(minimum, maximum, surplus, run)));
    }

    [Theory]
    [InlineData(4, 64)]
    [InlineData(16, 100)]
    [InlineData(64, 1000)]
    public void Behaves_like_a_list_of_bytes_over_a_long_life(int minimum, int maximum)
    {
        var random = new Random(6628);
        using var model = new RingModel(minimum, maximum, surplus: 7);
        for (int i = 0; i < 30_000; i++)
        {
            // Sizes change with the time of day, so that the ring lives through bursts, rest and the cap.
            int largest = (i / 500 % 3) switch { 0 => maximum / 16, 1 => maximum / 4, _ => maximum + 1 };
            model.Step(new RingOperation(Actions[random.Next(Actions.Length)], random.Next(largest + 1), random.Next(largest + 1)));
        }

        Assert.True(model.WrappedSteps > 1000, $"Only {model.WrappedSteps} steps were wrapped.");
        Assert.True(model.RefusedWrites > 100, $"Only {model.RefusedWrites} writes met the cap.");
        Assert.True(model.Shrinks > 30, $"Only {model.Shrinks} steps shrank the ring.");
    }

    private static Gen<RingOperation> OperationGen(int maximum) =>
        from action in Gen.Elements(Actions)
        from size in Gen.Frequency((4, Gen.Choose(0, Math.Max(1, maximum / 4))), (1, Gen.Choose(0, maximum + 1)))
        from part in Gen.Choose(0, maximum)
        select new RingOperation(action, size, part);

    // A failing run is cut to half, then loses single steps: what is left is the shortest way to the fault.
    private static IEnumerable<RingOperation[]> Shorter(RingOperation[] run)
    {
        if (run.Length > 1)
        {
            yield return run[..(run.Length / 2)];
            yield return run[(run.Length / 2)..];
        }

        for (int i = run.Length - 1; i >= 0; i--)
        {
            yield return [.. run[..i], .. run[(i + 1)..]];
        }
    }
}
