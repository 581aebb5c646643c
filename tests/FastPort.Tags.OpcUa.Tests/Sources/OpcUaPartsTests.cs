using FastPort.Tags.OpcUa.Sources;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>Parts of arrays as tags: NAME[RANGE].</summary>
public sealed class OpcUaPartsTests : IAsyncLifetime
{
    private const int MaxTags = 20;

    private static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    private Bridged _bridged = null!;
    private VariableNode _row = null!;
    private bool _isShifted;

    private TagClient Client => _bridged.Client;

    public async ValueTask InitializeAsync() => _bridged = await Bridged.StartAsync(
        Build,
        ("Endpoints:plant:EndpointUrl", "{url}"),
        ("Endpoints:plant:AllowWrite", "true"),
        ("Endpoints:plant:MaxTags", $"{MaxTags}"),
        ("Groups:fast:PublishingInterval", "00:00:00.050"),
        ("Tags:0:Name", "grouped"),
        ("Tags:0:Endpoint", "plant"),
        ("Tags:0:NamespaceUri", Bridged.NamespaceUri),
        ("Tags:0:NodeId", "i=10"),
        ("Tags:0:Group", "fast"),
        ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));

    public ValueTask DisposeAsync() => _bridged.DisposeAsync();

    [Fact]
    public async Task A_part_of_an_array_of_a_matrix_and_of_a_text_is_read()
    {
        TagList tags = await Client.ResolveAsync(
            ["plant/row[1:3]", "plant/row[9]", "plant/row[8:20]", "plant/table[1,0:1]", "plant/text[0:2]", "plant/row"]);
        TagSamples samples = await Client.ReadAsync(tags);

        Assert.Equal(
            [
                TagValue.FromArray([1, 2, 3]), TagValue.FromArray([9]), TagValue.FromArray([8, 9]), TagValue.FromArray([10, 11], 1, 2),
                "abc", TagValue.FromArray([.. Enumerable.Range(0, 10)]),
            ],
            Enumerable.Range(0, 6).Select(samples.GetValue));
        Assert.Equal((TagType.Int32, 1, true), (tags.Infos[0]!.Type, tags.Infos[0]!.Rank, tags.Infos[0]!.IsWritable));
        Assert.Equal((TagType.String, -1), (tags.Infos[4]!.Type, tags.Infos[4]!.Rank));
    }

    [Fact]
    public async Task A_name_of_a_tag_wins_and_a_name_that_is_no_part_is_unknown()
    {
        Assert.Equal(77, (await Client.ReadAsync("plant/row[5]")).Value);
        foreach (string name in (string[])
            ["plant/row[x]", "plant/row[]", "plant/row[1", "plant/row1]", "plant/nothing[1]", "[1]", "plant[1]"])
        {
            Assert.Equal(TagStatus.BadNodeIdUnknown, (await Client.ReadAsync(name)).Status);
        }
    }

    [Theory]
    [InlineData("plant/row[10:12]", 0x8037_0000)]
    [InlineData("plant/row[0,0]", 0x8037_0000)]
    [InlineData("plant/number[0]", 0x8037_0000)]
    [InlineData("plant/row[3:1]", 0x8036_0000)]
    [InlineData("plant/row[,]", 0x8036_0000)]
    public async Task A_range_that_is_wrong_or_outside_is_told_per_tag(string name, uint expected)
    {
        TagList tags = await Client.ResolveAsync([name, "plant/row[0]"]);
        var values = new TagSamples();
        values.Add(name.Contains("number", StringComparison.Ordinal) ? 1 : TagValue.FromArray([1, 2, 3]));
        values.Add(TagValue.FromArray([5]));

        TagSamples read = await Client.ReadAsync(tags);
        TagStatus[] written = await Client.WriteAsync(tags, values);
        await using TagSubscription subscription = await Client.SubscribeAsync(tags);
        TagStatus watched = subscription.Statuses[0].IsBad ? subscription.Statuses[0]
            : (await subscription.FirstAsync(change => change.Name == name, TestContext.Current.CancellationToken)).Sample.Status;

        Assert.Equal((expected, TagStatus.Good), (read.GetStatus(0).Code, read.GetStatus(1)));
        Assert.Equal((expected, TagStatus.Good), (written[0].Code, written[1]));
        Assert.Equal((expected, TagStatus.Good), (watched.Code, subscription.Statuses[1]));
    }

    [Fact]
    public async Task A_part_is_written_and_what_was_known_of_the_whole_and_of_other_parts_is_forgotten()
    {
        TagList tags = await Client.ResolveAsync(["plant/row", "plant/row[1:2]", "plant/row[2:3]"]);
        await Client.ReadAsync(tags, Hour);

        Assert.Equal(TagStatus.Good, await Client.WriteAsync("plant/row[2]", TagValue.FromArray([-2])));
        TagSamples samples = await Client.ReadAsync(tags, Hour);
        Assert.Equal(
            [TagValue.FromArray([0, 1, -2, 3, 4, 5, 6, 7, 8, 9]), TagValue.FromArray([1, -2]), TagValue.FromArray([-2, 3])],
            Enumerable.Range(0, 3).Select(samples.GetValue));

        Assert.Equal(TagStatus.Good, await Client.WriteAsync("plant/row", TagValue.FromArray([9, 8, 7, 6])));
        samples = await Client.ReadAsync(tags, Hour);
        Assert.Equal(
            [TagValue.FromArray([9, 8, 7, 6]), TagValue.FromArray([8, 7]), TagValue.FromArray([7, 6])],
            Enumerable.Range(0, 3).Select(samples.GetValue));
        Assert.Equal(TagStatus.BadIndexRangeDataMismatch, await Client.WriteAsync("plant/row[1:2]", TagValue.FromArray([1, 2, 3])));
        Assert.Equal(TagStatus.BadTypeMismatch, await Client.WriteAsync("plant/row[1:2]", TagValue.FromArray(["a", "b"])));
        Assert.Equal(TagStatus.BadIndexRangeNoData, await Client.WriteAsync("plant/row[3:4]", TagValue.FromArray([1, 2])));
    }

    [Fact]
    public async Task Changes_of_a_part_come_and_others_do_not_also_after_a_restart_of_the_server()
    {
        TagList tags = await Client.ResolveAsync(["plant/row[1:2]"]);
        await using TagSubscription subscription = await Client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(50) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal(TagValue.FromArray([1, 2]), await NextAsync(changes));

        _row.Value = new DataValue(Variant.FromArray([-1, 1, 2, 3]));
        _row.Value = new DataValue(Variant.FromArray([-1, 1, 5, 3]));
        Assert.Equal(TagValue.FromArray([1, 5]), await NextAsync(changes));

        // The indexes of the node ids differ then.
        await _bridged.StopServerAsync();
        _isShifted = true;
        await _bridged.StartServerAsync();
        Assert.Equal(TagValue.FromArray([1, 2]), await NextAsync(changes));
        Assert.Equal(TagValue.FromArray([1, 2]), (await Client.ReadAsync(tags)).GetValue(0));
    }

    [Fact]
    public async Task A_part_of_a_tag_in_a_group_is_asked_for_only_while_somebody_subscribes_to_it()
    {
        string[] names = ["grouped", "grouped[1:2]"];
        var infos = new TagInfo?[names.Length];

        await _bridged.Source.ResolveAsync(names, infos, CancellationToken.None);

        Assert.Equal([TimeSpan.FromMilliseconds(50), null], infos.Select(static info => info!.Interval));
    }

    [Fact]
    public async Task The_number_of_parts_has_an_end_and_those_that_are_known_stay()
    {
        TagList tags = await Client.ResolveAsync(Enumerable.Range(0, MaxTags + 5).Select(static i => $"plant/row[0:{i + 1}]"));

        Assert.All(tags.Infos.Take(MaxTags), Assert.NotNull);
        Assert.All(tags.Infos.Skip(MaxTags), Assert.Null);
        Assert.Equal(TagStatus.Good, (await Client.ReadAsync("plant/row[0:1]")).Status);
        Assert.Equal(TagStatus.BadNodeIdUnknown, (await Client.ReadAsync("plant/row[0:99]")).Status);
        Assert.Equal(TagStatus.Good, (await Client.ReadAsync("plant/row")).Status);
    }

    [Fact]
    public void Any_name_is_divided_into_what_it_was_made_of_or_not_at_all()
    {
        Gen<string> names = Gen.Elements("ab/[]0123:, \n".ToCharArray()).ArrayOf().Select(static letters => new string(letters));
        Gen<string> ranges = Gen.Elements("0123:,".ToCharArray()).NonEmptyListOf().Select(static letters => new string([.. letters]));
        Prop.ForAll(names.ToArbitrary(), static name =>
            !OpcUaParts.TrySplit(name, out string? whole, out string? range)
            || (name == $"{whole}[{range}]" && whole.Length != 0 && range.Length != 0 && range.All("0123456789:,".Contains)))
            .QuickCheckThrowOnFailure();
        Prop.ForAll(names.ToArbitrary(), ranges.ToArbitrary(), static (name, made) =>
            OpcUaParts.TrySplit($"{name}[{made}]", out string? whole, out string? range)
                ? (whole, range) == (name, made)
                : name.Length == 0 || made.Length > 200)
            .QuickCheckThrowOnFailure();
    }

    private static async Task<TagValue> NextAsync(IAsyncEnumerator<TagChange> changes)
    {
        do
        {
            Assert.True(await changes.MoveNextAsync());
        }
        while (!changes.Current.Sample.Status.IsGood);

        return changes.Current.Sample.Value;
    }

    private void Build(AddressSpace space)
    {
        if (_isShifted)
        {
            space.AddNamespace("urn:another");
        }

        ushort ns = space.AddNamespace(Bridged.NamespaceUri);
        var root = new NodeId(ns, 1);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
        _row = space.AddArrayVariable(root, new NodeId(ns, 10), "row", [.. Enumerable.Range(0, 10)], writable: true);
        VariableNode table = space.AddVariableOfType(root, new NodeId(ns, 11), new QualifiedName(ns, "table"), BuiltInType.Int32, 2);
        table.IsWritable = true;
        table.Value = new DataValue(Variant.FromMatrix([0, 1, 2, 10, 11, 12], [2, 3]));
        space.AddVariable(root, new NodeId(ns, 12), "text", "abcdef", writable: true);
        space.AddVariable(root, new NodeId(ns, 13), "number", 5, writable: true);
        space.AddVariable(root, new NodeId(ns, 14), "row[5]", 77);
    }
}
