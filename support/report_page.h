/*
 * The page of a report, made of support/report/ when Maar is built. It ends with a zero byte and
 * has the marks @META@ and @DATA@ once each.
 */
#ifndef MAAR_SUPPORT_REPORT_PAGE_H
#define MAAR_SUPPORT_REPORT_PAGE_H

extern const unsigned char support_report_page[];

#endif
