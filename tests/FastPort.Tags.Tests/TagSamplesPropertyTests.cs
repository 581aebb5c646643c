using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>Samples on the wire: what is written is read again, by us and by Google.Protobuf, and hostile bytes do no harm.</summary>
public sealed class TagSamplesPropertyTests
{
    private const int Rounds = 2000;
    private const int HostileInputs = 200_000;

    [Fact]
    public void What_is_written_is_read_again_also_by_another_encoder()
    {
        var random = new Random(19);
        var read = new TagSamples();
        for (int round = 0; round < Rounds; round++)
        {
            TagSample[] samples = RandomSamples.Make(random, random.Next(0, 20));
            TagSamples written = Of(samples);

            byte[] ours = written.ToBytes();
            Assert.True(read.TryRead(ours, samples.Length));
            Same(samples, read);

            Messages.TagSamples theirs = Messages.TagSamples.Parser.ParseFrom(ours);
            Assert.Equal(samples.Length, (int)theirs.Count);
            Assert.True(read.TryRead(theirs.ToByteArray(), samples.Length));
            Same(samples, read);
        }
    }

    [Fact]
    public void Rows_of_one_are_added_to_another()
    {
        var random = new Random(20);
        for (int round = 0; round < Rounds; round++)
        {
            TagSample[] samples = RandomSamples.Make(random, 10);
            TagSamples source = Of(samples);
            var target = new TagSamples();
            for (int i = samples.Length - 1; i >= 0; i--)
            {
                target.Add(source, i);
            }

            Same([.. samples.Reverse()], target);
        }
    }

    [Fact]
    public void Columns_that_come_in_pieces_or_unpacked_are_read()
    {
        using var bytes = new MemoryStream();
        using (var output = new CodedOutputStream(bytes))
        {
            Field(output, 1, WireFormat.WireType.Varint);
            output.WriteUInt32(3);
            Field(output, 2, WireFormat.WireType.LengthDelimited);
            output.WriteBytes(ByteString.CopyFrom(6, 6, 1));
            Field(output, 7, WireFormat.WireType.LengthDelimited);
            output.WriteLength(4);
            output.WriteSFixed32(41);
            Field(output, 99, WireFormat.WireType.LengthDelimited);
            output.WriteString("a field of a later version");
            Field(output, 7, WireFormat.WireType.Fixed32);
            output.WriteSFixed32(-42);
            Field(output, 6, WireFormat.WireType.Varint);
            output.WriteBool(true);
        }

        var samples = new TagSamples();

        Assert.True(samples.TryRead(bytes.ToArray(), 3));
        Assert.Equal([41, -42, true], Enumerable.Range(0, 3).Select(i => samples[i].Value.ToObject()));
    }

    [Fact]
    public void Hostile_bytes_are_refused_or_give_samples_that_can_be_read()
    {
        var random = new Random(21);
        var samples = new TagSamples();
        var request = new FastPort.Tags.Wire.TagRequestMessage();
        int accepted = 0;
        for (int i = 0; i < HostileInputs; i++)
        {
            byte[] bytes = RandomSamples.Mutate(random, Of(RandomSamples.Make(random, random.Next(1, 6))).ToBytes());
            long before = GC.GetAllocatedBytesForCurrentThread();
            bool isRead = samples.TryRead(bytes, 1000);
            long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
            Assert.InRange(allocated, 0, 100_000 + (64 * bytes.Length));
            if (isRead)
            {
                accepted++;
                Assert.InRange(samples.Count, 0, 1000);
                for (int row = 0; row < Math.Min(samples.Count, 10); row++)
                {
                    _ = samples[row].ToString();
                }
            }

            _ = request.TryReadRead(bytes);
            _ = request.TryReadWrite(bytes);
            _ = FastPort.Tags.Wire.TagMessages.ReadUpdate(bytes);
        }

        Assert.InRange(accepted, 1, HostileInputs - 1);
    }

    [Fact]
    public void Two_thousand_samples_cost_few_allocations_and_none_the_second_time()
    {
        var source = new TagSamples();
        for (int i = 0; i < 2000; i++)
        {
            TagValue value = i < 1000 ? i : i < 1800 ? i / 2.0 : $"tag-value-{i:D6}";
            source.Add(value, TagStatus.Good, DateTime.UnixEpoch.AddTicks(i), DateTime.UnixEpoch);
        }

        byte[] bytes = source.ToBytes();
        var samples = new TagSamples();
        Assert.True(samples.TryRead(bytes, 2000));
        long before = GC.GetAllocatedBytesForCurrentThread();

        Assert.True(samples.TryRead(bytes, 2000));
        double sum = 0;
        for (int i = 0; i < samples.Count; i++)
        {
            sum += samples.TryGet(i, out int number) ? number : samples.TryGet(i, out double real) ? real : samples.GetBytes(i).Length;
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.True(sum > 0);

        // One array for each column that is used, the samples themselves, and what the columns grow by while they are indexed.
        before = GC.GetAllocatedBytesForCurrentThread();
        Assert.True(new TagSamples().TryRead(bytes, 2000));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, bytes.Length, 4 * bytes.Length);
    }

    private static void Field(CodedOutputStream output, int field, WireFormat.WireType type) =>
        output.WriteTag(WireFormat.MakeTag(field, type));

    private static TagSamples Of(TagSample[] samples)
    {
        var all = new TagSamples();
        Array.ForEach(samples, sample => all.Add(sample));
        return all;
    }

    private static void Same(TagSample[] expected, TagSamples samples)
    {
        Assert.Equal(expected.Length, samples.Count);
        for (int i = 0; i < expected.Length; i++)
        {
            Assert.Equal(expected[i], samples[i]);
        }
    }
}
