namespace FastPort.OpcUa.Hosting;

/// <summary>The keys of section <c>Certificates</c>.</summary>
internal static class CertificateSection
{
    public static void Read(OpcUaCertificateOptions options, SectionReader section)
    {
        section.Text(nameof(options.Directory), value => options.Directory = value);
        section.Flag(nameof(options.UnsafeTrustAll), value => options.UnsafeTrustAll = value);
    }
}
