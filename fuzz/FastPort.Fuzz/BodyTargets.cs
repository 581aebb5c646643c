using System.Buffers;
using FastPort.Framing;
using FastPort.Tags.Wire;
using FastPort.Routing;
using TagSamples = FastPort.Tags.TagSamples;

namespace FastPort.Fuzz;

/// <summary>The bodies that FastPort decodes itself. What was read and is written again must read the same.</summary>
internal static class BodyTargets
{
    public static Target Control() => new("control", RunControl, ControlSeeds);

    public static Target Tags() => new("tags", RunTags, TagSeeds);

    private static void RunControl(byte[] input)
    {
        if (HelloBody.TryRead(input, out HelloBody hello))
        {
            Finding.Unless(HelloBody.TryRead(Encode(hello), out HelloBody again) && again == hello, "Hello changes when it is written.");
        }

        if (WelcomeBody.TryRead(input, out WelcomeBody welcome))
        {
            Finding.Unless(
                WelcomeBody.TryRead(Encode(welcome), out WelcomeBody again) && again == welcome, "Welcome changes when it is written.");
        }

        if (CancelBody.TryRead(input, out CancelBody cancel))
        {
            Finding.Unless(
                CancelBody.TryRead(Encode(cancel), out CancelBody again) && again == cancel, "Cancel changes when it is written.");
        }

        _ = CodeBody.TryRead(input, out _);
        _ = TopicBody.TryRead(input, out _);
        _ = DeliveredBody.TryRead(input, out _);
        _ = PeersQueryBody.TryRead(input, out _);

        // The same bytes in two segments are the same message.
        bool isOne = RoutedEnvelope.TryRead(new ReadOnlySequence<byte>(input), out RoutedEnvelope whole);
        int cut = input.Length / 2;
        var second = new Segment(input.AsMemory(cut), null, cut);
        var first = new Segment(input.AsMemory(0, cut), second, 0);
        bool isTwo = RoutedEnvelope.TryRead(
            new ReadOnlySequence<byte>(first, 0, second, input.Length - cut), out RoutedEnvelope divided);
        Finding.Unless(isOne == isTwo, "An envelope in two segments is another one.");
        if (isOne)
        {
            Finding.Unless(
                whole.Body.ToArray().AsSpan().SequenceEqual(divided.Body.ToArray())
                && whole.Address.ToArray().AsSpan().SequenceEqual(divided.Address.ToArray()),
                "An envelope in two segments has another body or address.");
        }
    }

    private static void RunTags(byte[] input)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        var message = new TagRequestMessage();
        _ = message.TryReadRead(input);
        _ = message.TryReadWrite(input);
        var samples = new TagSamples();
        if (samples.TryRead(input, 10_000))
        {
            for (int i = 0; i < samples.Count; i++)
            {
                _ = samples[i];
            }

            var again = new TagSamples();
            Finding.Unless(
                again.TryRead(samples.ToBytes(), 10_000) && again.Count == samples.Count, "Samples change when they are written.");
        }

        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Finding.Unless(allocated < 4_000_000 + (10_000L * input.Length), $"{input.Length} bytes cost {allocated} bytes of memory.");
    }

    private static IEnumerable<byte[]> ControlSeeds()
    {
        yield return Encode(new HelloBody("id", "token", "name", 1));
        yield return Encode(new WelcomeBody(1, "server", 65536, 1000, 1));
        yield return Encode(new CodeBody(ErrorCode.Forbidden, "no"));
        yield return Encode(new CancelBody(7));
        yield return [0x0A, 1, (byte)'t', 0x10, 7, 0x1A, 2, 1, 2, 0x22, 1, (byte)'f'];
        yield return [0x0A, 1, (byte)'p', 0x10, 100, 0x1A, 1, (byte)'a'];
    }

    private static IEnumerable<byte[]> TagSeeds()
    {
        var samples = new TagSamples();
        samples.Add(1);
        samples.Add(2.5);
        samples.Add("text");
        samples.Add(true);
        yield return samples.ToBytes();
        yield return [0x0A, 2, 1, 2, 0x10, 5];
    }

    private static byte[] Encode<TBody>(TBody body)
        where TBody : IFrameBody
    {
        byte[] bytes = new byte[body.Size];
        body.Write(bytes);
        return bytes;
    }

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        public Segment(ReadOnlyMemory<byte> memory, Segment? next, long index) => (Memory, Next, RunningIndex) = (memory, next, index);
    }
}
