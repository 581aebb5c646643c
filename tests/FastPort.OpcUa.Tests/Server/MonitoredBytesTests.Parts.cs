using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <content>What it costs to look for parts is bounded.</content>
public sealed partial class MonitoredBytesTests
{
    [Theory]
    [InlineData(Text, "3999999")]
    [InlineData(Texts, "0:999999,9")]
    [InlineData(Strings, "0:999999,9")]
    public async Task Parts_of_large_texts_are_looked_for_up_to_a_bound(uint node, string range)
    {
        SetLarge();

        MonitoredItemCreateResult[] made = await MonitorPartsAsync(range, 100, node: node);
        int good = made.TakeWhile(static result => result.StatusCode.IsGood).Count();
        Assert.InRange(good, 1, 20);
        Assert.All(made.Skip(good), static result => Assert.Equal(StatusCodes.BadTooManyOperations, result.StatusCode));
        MonitoredItemCreateResult[] disabled = await MonitorPartsAsync(range, 5, MonitoringMode.Disabled, node);
        for (int i = 0; i < 5; i++)
        {
            made = [.. made, .. await MonitorPartsAsync(range, 5, node: node)];
        }

        uint[] all = [.. made.Concat(disabled).Where(static one => one.StatusCode.IsGood).Select(static one => one.MonitoredItemId)];
        Assert.All(await SetModeAsync(MonitoringMode.Disabled, all), static status => Assert.Equal(StatusCodes.Good, status));
        StatusCode[] enabled = await SetModeAsync(MonitoringMode.Reporting, all);
        Assert.Equal(good, enabled.TakeWhile(static status => status.IsGood).Count());
        Assert.All(enabled.Skip(good), static status => Assert.Equal(StatusCodes.BadTooManyOperations, status));
    }

    [Fact]
    public async Task One_value_is_looked_through_for_so_many_parts()
    {
        _text.Value = new DataValue("short");
        await MonitorPartsAsync($"{Large - 1}", 100);
        await NextAsync();

        _text.Value = new DataValue(new string('b', Large));

        StatusCode[] seen = [.. (await NextAsync()).Select(static v => v.Value.Status)];
        Assert.InRange(seen.Count(static status => status.IsGood), 1, 20);
        Assert.Equal(
            [StatusCodes.Good, StatusCodes.BadTooManyOperations], seen.Distinct().OrderBy(static status => status.Value));
    }

    [Theory]
    [InlineData(Texts)]
    [InlineData(Strings)]
    public async Task One_array_is_looked_through_for_so_many_parts(uint node)
    {
        await _session.MonitorAsync(_id, Number);
        await MonitorPartsAsync("0:999999,9", 100, node: node);
        await NextAsync();

        SetLarge();
        _number.Value = new DataValue(1);

        // The others have looked for it and found nothing, as before.
        StatusCode[] seen = [.. (await NextAsync()).Where(static v => v.ClientHandle != Number).Select(static v => v.Value.Status)];
        Assert.InRange(seen.Length, 80, 99);
        Assert.All(seen, static status => Assert.Equal(StatusCodes.BadTooManyOperations, status));
    }

    [Theory]
    [InlineData(Texts)]
    [InlineData(Strings)]
    public async Task One_read_looks_through_an_array_for_so_many_parts(uint node)
    {
        SetLarge();
        var item = new ReadValueId { NodeId = new NodeId(2, node), AttributeId = (uint)AttributeId.Value, IndexRange = "0:999999,9" };

        DataValue[] values = (await _session.CallAsync<ReadRequest, ReadResponse>(
            new ReadRequest { NodesToRead = [.. Enumerable.Repeat(item, 100)] })).Results!;

        int found = values.TakeWhile(static value => value.Status == StatusCodes.BadIndexRangeNoData).Count();
        Assert.InRange(found, 1, 20);
        Assert.All(values.Skip(found), static value => Assert.Equal(StatusCodes.BadTooManyOperations, value.Status));
    }

    [Theory]
    [InlineData(Texts)]
    [InlineData(Strings)]
    public async Task Elements_of_an_array_are_read_without_a_bound(uint node)
    {
        SetLarge();
        var item = new ReadValueId { NodeId = new NodeId(2, node), AttributeId = (uint)AttributeId.Value, IndexRange = "5" };

        DataValue[] values = (await _session.CallAsync<ReadRequest, ReadResponse>(
            new ReadRequest { NodesToRead = [.. Enumerable.Repeat(item, 100)] })).Results!;

        Assert.Equal(100, values.Length);
        Assert.All(values, static value => Assert.Equal(StatusCodes.Good, value.Status));
    }

    /// <summary>To count a value takes as long as to look through it.</summary>
    [Fact]
    public void A_budget_that_is_used_up_counts_no_value()
    {
        var budget = new PartBudget();
        Variant bytes = Variant.FromArray(new byte[40_000_000]);
        Assert.True(budget.TryCopy(bytes) && budget.TryCopy(bytes));
        Variant names = Variant.FromArray(new LocalizedText[1000]);
        long before = GC.GetAllocatedBytesForCurrentThread();

        bool isTaken = budget.TryCopy(names);

        // Elements are counted in boxes.
        Assert.Equal((false, 0L), (isTaken, GC.GetAllocatedBytesForCurrentThread() - before));
    }

    // Of the arrays nothing is found.
    private void SetLarge()
    {
        _text.Value = new DataValue(new string('b', Large));
        _texts.Value = new DataValue(Variant.FromArray(new string?[LargeArray]));
        _strings.Value = new DataValue(Variant.FromArray(new ByteString[LargeArray]));
    }
}
