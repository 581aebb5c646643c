namespace FastPort.Tags.Tests;

/// <summary>The tags of the contract of sources, in memory.</summary>
internal static class PressTags
{
    public static MemoryTagSource Create()
    {
        var source = new MemoryTagSource("press");
        source.Add("press/speed", 12.5, isWritable: true);
        source.Add("press/state", "idle");
        source.Add("press/counts", TagValue.FromArray([1, 2, 3]), isWritable: true);
        source.AddMethod("press/add", static inputs => inputs.Count == 2
            ? [inputs[0].Get<int>() + inputs[1].Get<int>()]
            : throw new TagException(TagStatus.BadInvalidArgument, "Two numbers are added."));
        return source;
    }
}
