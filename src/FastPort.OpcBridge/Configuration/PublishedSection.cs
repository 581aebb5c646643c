using FastPort.Configuration;
using FastPort.Tags;

namespace FastPort.OpcBridge.Configuration;

/// <summary>Section <c>OpcBridge:Published</c>: limits of the tags that clients publish.</summary>
internal static class PublishedSection
{
    private const int MostTags = 10_000_000;
    private const int LongestText = 1024 * 1024;

    // The bridge stops waiting for a source that has not answered by then.
    private static readonly TimeSpan LongestWrite = TimeSpan.FromSeconds(10);

    public static void Describe(OptionSection section, PublishedTagOptions options)
    {
        options.MaxTags = section.Number(nameof(options.MaxTags), options.MaxTags, 1, MostTags);
        options.MaxTagsPerPublisher = section.Number(nameof(options.MaxTagsPerPublisher), options.MaxTagsPerPublisher, 1, MostTags);
        options.MaxNameLength = section.Number(nameof(options.MaxNameLength), options.MaxNameLength, 1, LongestText);
        options.MaxTextLength = section.Number(nameof(options.MaxTextLength), options.MaxTextLength, 0, LongestText);
        options.MaxValueBytes = section.Number(nameof(options.MaxValueBytes), (int)options.MaxValueBytes, 1, int.MaxValue);
        options.MaxValueBytesPerPublisher = section.Number(
            nameof(options.MaxValueBytesPerPublisher), (int)options.MaxValueBytesPerPublisher, 1, int.MaxValue);
        options.WriteTimeout = section.Time(
            nameof(options.WriteTimeout), options.WriteTimeout, TimeSpan.FromMilliseconds(1), LongestWrite);
    }
}
